use crate::disposition::names_a_file;

/// The kind of a part, according to its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormPart {
    /// A field: no parser finds a file name in the headers.
    Field,
    /// A file to every parser.
    File,
    /// A file to some parsers.
    Doubtful,
}

impl FormPart {
    /// Classifies the headers of a part, given with their line ends.
    pub(crate) fn of(header: &[u8]) -> FormPart {
        if !mentions_filename(header) {
            FormPart::Field
        } else if is_file(header) {
            FormPart::File
        } else {
            FormPart::Doubtful
        }
    }
}

/// Whether some parser may find a file name. Every parser looks for a parameter such as `filename`,
/// `filename*`, or `filename*0`; some ignore case, and some search every line.
fn mentions_filename(header: &[u8]) -> bool {
    let wanted = b"filename";
    header
        .windows(wanted.len())
        .any(|bytes| bytes.eq_ignore_ascii_case(wanted))
}

/// Whether every line is plain, and exactly one of them is a disposition that names a file.
fn is_file(header: &[u8]) -> bool {
    let mut dispositions = 0;
    let mut rest = header;
    while !rest.is_empty() {
        let Some(end) = memchr::memmem::find(rest, b"\r\n") else {
            return false;
        };
        let Some((name, value)) = field(&rest[..end]) else {
            return false;
        };
        if name.eq_ignore_ascii_case(b"content-disposition") {
            dispositions += 1;
            if !names_a_file(value) {
                return false;
            }
        }
        rest = &rest[end + 2..];
    }
    dispositions == 1
}

/// The name and the value of a header line; `None` when it is folded or contains control characters.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let is_value = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
    (!name.is_empty() && name.iter().all(is_name) && value.iter().all(is_value))
        .then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "Content-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n";

    fn part(header: &str) -> FormPart {
        FormPart::of(header.as_bytes())
    }

    #[test]
    fn a_header_with_one_plain_disposition_is_a_files() {
        assert_eq!(part(FILE), FormPart::File);
        assert_eq!(
            part(&format!(
                "Content-Type: image/png\r\n{FILE}X-Odd: \u{e9}\r\n"
            )),
            FormPart::File
        );
        assert_eq!(
            part(&FILE.replace("Content-D", "CONTENT-d")),
            FormPart::File
        );
    }

    #[test]
    fn a_header_without_a_filename_is_a_fields_whatever_else_it_says() {
        for header in [
            "Content-Disposition: form-data; name=\"a\"\r\n",
            "no colon\r\n",
            "\0\r\n folded\r\n",
        ] {
            assert_eq!(part(header), FormPart::Field);
        }
    }

    #[test]
    fn a_header_that_mentions_a_filename_and_is_not_plain_is_doubtful() {
        for header in [
            &format!("{FILE}{FILE}"),
            &format!("{FILE} folded: x\r\n"),
            &format!("{FILE}no colon\r\n"),
            &format!("{FILE}X-Odd: \0\r\n"),
            &format!("{FILE}X-Odd: a\nb\r\n"),
            &format!("{FILE}: empty name\r\n"),
            &format!("{FILE}X Y: z\r\n"),
            &FILE.replace("; name", ";\r\n name"),
            "Content-Type: text/plain; filename=b\r\n",
            "Content-Disposition: form-data; name=\"FileName\"\r\n",
            "Content-Disposition: form-data; name=a; FILENAME=b\r\n",
        ] {
            assert_eq!(part(header), FormPart::Doubtful, "{header}");
        }
    }
}
