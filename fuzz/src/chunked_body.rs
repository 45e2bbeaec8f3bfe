/// A chunked body as the most lenient parser reads it: the oracle for what Carat accepts.
///
/// It takes the hex digits at the start of a size line and skips the rest of the line. Lines end
/// with CRLF or, for a parser that is as common, with a bare LF; a body that Carat accepts must mean
/// the same to both.
#[derive(Debug, PartialEq, Eq)]
pub struct ChunkedBody {
    /// The content.
    pub data: Vec<u8>,
    /// The index behind the last byte.
    pub end: usize,
}

impl ChunkedBody {
    /// Reads the body at the start of `bytes`; `None` when it is not complete.
    #[must_use]
    pub fn read(bytes: &[u8], line_end: &[u8]) -> Option<ChunkedBody> {
        let (mut data, mut at) = (Vec::new(), 0);
        loop {
            let line = line(bytes, &mut at, line_end)?;
            let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit());
            let size = digits.fold(0_usize, |size, digit| {
                size.saturating_mul(16) + char::from(*digit).to_digit(16).unwrap_or(0) as usize
            });
            if size == 0 {
                break;
            }
            data.extend_from_slice(bytes.get(at..at.checked_add(size)?)?);
            at += size;
            if !line_is_blank(self::line(bytes, &mut at, line_end)?) {
                return None;
            }
        }
        while !line_is_blank(line(bytes, &mut at, line_end)?) {}
        Some(ChunkedBody { data, end: at })
    }
}

/// The line at `at` without its end; moves `at` past it.
fn line<'a>(bytes: &'a [u8], at: &mut usize, line_end: &[u8]) -> Option<&'a [u8]> {
    let rest = bytes.get(*at..)?;
    let length = rest
        .windows(line_end.len())
        .position(|found| found == line_end)?;
    *at += length + line_end.len();
    Some(&rest[..length])
}

/// A parser that ends lines with LF drops a CR before it.
fn line_is_blank(line: &[u8]) -> bool {
    matches!(line, [] | [b'\r'])
}
