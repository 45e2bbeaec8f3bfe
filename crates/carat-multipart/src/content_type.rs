/// The longest boundary (RFC 2046 5.1.1), in bytes.
const BOUNDARY_LIMIT: usize = 70;

const FORM: &[u8] = b"multipart/form-data";

/// The boundary of a form, if every parser reads the same one from this `Content-Type`: there is no
/// parameter but `boundary` and `charset`, and neither contains a character that ends it for some parser.
pub fn boundary_of(content_type: &[u8]) -> Option<&[u8]> {
    let (media_type, mut rest) = content_type.split_at_checked(FORM.len())?;
    let (mut boundary, mut charset) = (None, None);
    while let Some(parameter) = rest.strip_prefix(b";") {
        let end = parameter.iter().position(|byte| *byte == b';');
        let (parameter, behind) = parameter.split_at(end.unwrap_or(parameter.len()));
        rest = behind;
        let (name, value) = assignment(parameter)?;
        let taken = match &name.to_ascii_lowercase()[..] {
            b"boundary" => boundary.replace(value),
            b"charset" => charset.replace(value),
            _ => return None,
        };
        if taken.is_some() {
            return None;
        }
    }
    let is_plain = media_type.eq_ignore_ascii_case(FORM) && rest.is_empty();
    boundary.filter(|boundary| is_plain && boundary.len() <= BOUNDARY_LIMIT)
}

/// The name of a parameter, and its value without quotes.
fn assignment(parameter: &[u8]) -> Option<(&[u8], &[u8])> {
    let parameter = parameter.trim_ascii_start();
    let equals = parameter.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&parameter[..equals], &parameter[equals + 1..]);
    let bare = value
        .strip_prefix(b"\"")
        .map_or(Some(value), |value| value.strip_suffix(b"\""))?;
    let is_plain = !bare.is_empty() && bare.iter().copied().all(is_boundary_byte);
    is_plain.then_some((name, bare))
}

/// Whether a boundary may have this byte: RFC 2046 5.1.1, without the space and the comma.
fn is_boundary_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"'()+_-./:=?".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_forms_have_a_boundary() {
        for (content_type, boundary) in [
            ("multipart/form-data; boundary=AaB03x", "AaB03x"),
            ("Multipart/Form-Data;BOUNDARY=\"a:b\"", "a:b"),
            ("multipart/form-data; charset=utf-8; boundary=x", "x"),
            ("multipart/form-data; boundary=x; charset=\"utf-8\"", "x"),
            (
                "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk",
                "----WebKitFormBoundary7MA4YWxk",
            ),
            ("multipart/form-data; boundary==_a=b", "=_a=b"),
        ] {
            let found = boundary_of(content_type.as_bytes());
            assert_eq!(found, Some(boundary.as_bytes()));
        }
    }

    #[test]
    fn whatever_leaves_a_doubt_has_none() {
        let long = format!("multipart/form-data; boundary={}", "x".repeat(71));
        for content_type in [
            "",
            "multipart/form-data",
            "multipart/mixed; boundary=x",
            "multipart/form-data-x; boundary=x",
            "multipart/form-data, boundary=x",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=\"\"",
            "multipart/form-data; boundary=\"x",
            "multipart/form-data; boundary=x\"",
            "multipart/form-data; boundary = x",
            "multipart/form-data; boundary=x ",
            "multipart/form-data; boundary=x;",
            "multipart/form-data; boundary=\"x y\"",
            "multipart/form-data; boundary=x,y",
            "multipart/form-data; boundary=\"x;y\"",
            "multipart/form-data; boundary=x; boundary=y",
            "multipart/form-data; boundary=x; odd=y",
            "multipart/form-data; boundary=x\u{e9}",
            &long,
        ] {
            assert_eq!(boundary_of(content_type.as_bytes()), None, "{content_type}");
        }
    }
}
