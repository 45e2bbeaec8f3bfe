/// The longest value in bytes that every parser accepts: Rack 3 refuses more than 1536.
const DISPOSITION_LIMIT: usize = 1536;

/// Whether every parser treats a part with this `Content-Disposition` as a file: `form-data` with
/// `name`, `filename` and `filename*` at most once each, and with at least one of the latter two.
pub(crate) fn names_a_file(value: &[u8]) -> bool {
    value.len() <= DISPOSITION_LIMIT && Parameters::of(value).is_some_and(|seen| seen.file())
}

/// The parameters that a disposition has.
#[derive(Default)]
struct Parameters {
    name: bool,
    filename: bool,
    extended: bool,
}

impl Parameters {
    /// Parses a value; `None` when parsers may disagree about it.
    fn of(value: &[u8]) -> Option<Parameters> {
        let value = value.trim_ascii_start();
        let (form_data, mut rest) = value.split_at_checked(b"form-data".len())?;
        if !form_data.eq_ignore_ascii_case(b"form-data") {
            return None;
        }
        let mut seen = Parameters::default();
        while !rest.is_empty() {
            let parameter = rest.strip_prefix(b";")?.trim_ascii_start();
            let equals = parameter.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (&parameter[..equals], &parameter[equals + 1..]);
            let (again, length) = match name {
                b"name" => (&mut seen.name, plain(value, |_| false)?),
                b"filename" => (&mut seen.filename, plain(value, is_lone_backslash)?),
                b"filename*" => (&mut seen.extended, extended(value)?),
                _ => return None,
            };
            if std::mem::replace(again, true) {
                return None;
            }
            rest = &value[length..];
        }
        Some(seen)
    }

    fn file(&self) -> bool {
        self.filename || self.extended
    }
}

/// The length of a token, or of a quoted string with its quotes. Parsers differ in how they treat
/// backslashes: `admits` gets each backslash with the bytes after it, and tells whether all parsers
/// take it as a plain character.
fn plain(value: &[u8], admits: fn(&[u8]) -> bool) -> Option<usize> {
    let Some(quoted) = value.strip_prefix(b"\"") else {
        return span(value, is_token_byte);
    };
    let end = quoted.iter().position(|byte| *byte == b'"')?;
    let is_plain = |index: usize| match quoted[index] {
        b'\\' => admits(&quoted[index..]),
        byte => !byte.is_ascii_control(),
    };
    (0..end).all(is_plain).then_some(end + 2)
}

/// Whether a backslash is plain, as in the paths that Internet Explorer sent: `C:\name`.
fn is_lone_backslash(rest: &[u8]) -> bool {
    rest.get(1).is_some_and(|byte| !b"\\\"".contains(byte))
}

/// The length of an RFC 8187 value in UTF-8.
fn extended(value: &[u8]) -> Option<usize> {
    let (charset, mut rest) = value.split_at_checked(b"utf-8''".len())?;
    if !charset.eq_ignore_ascii_case(b"utf-8''") {
        return None;
    }
    let mut length = charset.len();
    loop {
        let step = match rest {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => 3,
            [byte, ..] if is_token_byte(*byte) && *byte != b'%' => 1,
            _ => break,
        };
        length += step;
        rest = &rest[step..];
    }
    (length > charset.len()).then_some(length)
}

fn span(value: &[u8], admits: fn(u8) -> bool) -> Option<usize> {
    let end = value.iter().position(|byte| !admits(*byte));
    Some(end.unwrap_or(value.len())).filter(|end| *end > 0)
}

/// Whether a token may have this byte: RFC 9110 5.6.2, without `'` and `*`.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_browsers_and_clients_send_names_a_file() {
        for value in [
            " form-data; name=\"a\"; filename=\"b.txt\"",
            " form-data; name=\"a[]\"; filename=\"\"",
            "Form-Data;name=a;filename=b",
            " form-data; filename=\"b\"; name=\"a\"",
            " form-data; filename=b",
            " form-data; name=\"a\"; filename=\"C:\\temp\\b; c=d.txt\"",
            " form-data; name=\"a\"; filename=\"\u{fc}%22.txt\"",
            " form-data; name=\"a\"; filename=\"_.txt\"; filename*=UTF-8''%c3%bc.txt",
            " form-data; name=\"a\"; filename*=utf-8''b",
        ] {
            assert!(names_a_file(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn what_parsers_may_read_in_different_ways_does_not() {
        let long = format!("form-data; filename=\"{}\"", "x".repeat(DISPOSITION_LIMIT));
        for value in [
            "",
            "form-data",
            "form-data; name=\"a\"",
            "attachment; filename=b",
            "form-data filename=b",
            "form-data; filename=b;",
            "form-data; filename=",
            "form-data; filename =b",
            "form-data; filename= b",
            "form-data; filename=b ; name=a",
            "form-data; Filename=b",
            "form-data; filename=b; filename=c",
            "form-data; filename=b; odd=c",
            "form-data; filename=\"b",
            "form-data; filename=\"b\"c",
            "form-data; filename=b\"c\"",
            "form-data; filename=\"b\\\"c\"",
            "form-data; filename=\"b\\\\c\"",
            "form-data; filename=\"b\\\"; name=\"a\"",
            "form-data; name=\"a\\b\"; filename=b",
            "form-data; filename=\"b\tc\"",
            "form-data; filename=b/c",
            "form-data; filename*=iso-8859-1''b",
            "form-data; filename*=utf-8'en'b",
            "form-data; filename*=utf-8''",
            "form-data; filename*=utf-8''%b",
            "form-data; filename*=utf-8''a'b",
            "form-data; filename*=\"utf-8''b\"",
            "form-data; filename*0=b",
            &long,
        ] {
            assert!(!names_a_file(value.as_bytes()), "{value}");
        }
    }
}
