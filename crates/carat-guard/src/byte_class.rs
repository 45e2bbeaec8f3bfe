//! Sets of bytes, and where a run of them ends.

/// A set of bytes: one bit of each entry in the table.
#[derive(Clone, Copy)]
pub struct ByteClass(u8);

static CLASSES: [u8; 256] = classes();

impl ByteClass {
    /// `tchar` of RFC 9110, section 5.6.2: methods and field names.
    pub const TOKEN: Self = Self(1);
    /// The path of a request target, up to its `?`: visible ASCII and, as in nginx and Puma, bytes beyond it. Without
    /// `#`, since a target has no fragment and hyper silently drops one, and without the bytes that the `http` crate
    /// refuses.
    pub const PATH: Self = Self(2);
    /// The query of a request target with its `?`; as `PATH`, but the `http` crate refuses other bytes.
    pub const QUERY: Self = Self(16);
    /// Visible ASCII, space, tab and `obs-text`: a field value or a chunk extension.
    pub const TEXT: Self = Self(4);
    /// `reg-name` of RFC 3986 without its percent sign, and without the comma, which indicates two
    /// joined values.
    pub const HOST_NAME: Self = Self(8);

    /// Whether the set contains `byte`.
    pub fn has(self, byte: u8) -> bool {
        CLASSES[usize::from(byte)] & self.0 != 0
    }

    /// The index of the first byte at or after `from` that is not in the set, or the length.
    /// `from` must not exceed the length.
    pub fn run_end(self, bytes: &[u8], from: usize) -> usize {
        bytes[from..]
            .iter()
            .position(|&byte| !self.has(byte))
            .map_or(bytes.len(), |run| from + run)
    }
}

/// `ByteClass::TEXT.run_end`, eight bytes at a time: most header bytes belong to values.
pub(crate) fn text_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let controls = controls(u64::from_le_bytes(*word));
        if controls == 0 {
            at += 8;
            continue;
        }
        at += controls.trailing_zeros() as usize / 8;
        if bytes[at] != b'\t' {
            return at;
        }
        at += 1;
    }
    ByteClass::TEXT.run_end(bytes, at)
}

/// Sets the high bit of each byte that is a control character. A borrow can mark one byte too many,
/// but only above a correct mark, so the lowest mark is always correct ("Bit Twiddling Hacks",
/// determine if a word has a byte less than n).
fn controls(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let delete = word ^ (ONES * 0x7f);
    let is_delete = delete.wrapping_sub(ONES) & !delete;
    (below_space | is_delete) & (ONES * 0x80)
}

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = class(byte);
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

const fn class(byte: u8) -> u8 {
    let alphanumeric = byte.is_ascii_alphanumeric();
    let token = alphanumeric
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.')
        || matches!(byte, b'^'..=b'`' | b'|' | b'~');
    let visible = byte.is_ascii_graphic();
    let target = visible || byte >= 0x80;
    let path = target && !matches!(byte, b'#' | b'<' | b'>' | b'?' | b'`');
    let query = target && !matches!(byte, b'"' | b'#' | b'<' | b'>');
    let text = visible || matches!(byte, b' ' | b'\t' | 0x80..);
    let host_name = alphanumeric
        || matches!(
            byte,
            b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&'..=b'+' | b';' | b'='
        );
    token as u8
        | (path as u8) << 1
        | (text as u8) << 2
        | (host_name as u8) << 3
        | (query as u8) << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_scanned_in_words_ends_where_text_scanned_in_bytes_ends() {
        for byte in 0..=u8::MAX {
            for second in [b'\t', b'\r', b'a', 0x80, 0xff, 0x7f, 0x00] {
                for at in 0..20 {
                    let mut bytes = [b'x'; 21];
                    bytes[at] = byte;
                    bytes[at + 1] = second;
                    for from in 0..=bytes.len() {
                        let expected = ByteClass::TEXT.run_end(&bytes, from);
                        assert_eq!(text_end(&bytes, from), expected, "{bytes:?} from {from}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_token_is_made_of_the_77_characters_of_the_rfc() {
        let members: Vec<u8> = (0..=u8::MAX).filter(|&b| ByteClass::TOKEN.has(b)).collect();
        assert_eq!(members.len(), 77);
        assert!(b"!#$%&'*+-.^_`|~".iter().all(|b| members.contains(b)));
    }
}
