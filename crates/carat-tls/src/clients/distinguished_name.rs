use std::fmt::Write;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const PRINTABLE_STRING: u8 = 0x13;
const IA5_STRING: u8 = 0x16;

/// The attributes that have a short name (RFC 4514, section 3, and what OpenSSL names besides).
const NAMES: [(&[u8], &str); 12] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (
        &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1],
        "emailAddress",
    ),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1],
        "UID",
    ),
    (
        &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25],
        "DC",
    ),
];

/// The name of a certificate as text (RFC 4514), the last part first: `CN=example.org,O=Example`.
/// `der` is the content of its outer SEQUENCE. Control characters are escaped. `None` if the bytes
/// are not DER.
pub(super) fn distinguished_name(mut der: &[u8]) -> Option<String> {
    let mut parts = Vec::new();
    while !der.is_empty() {
        let mut attributes = take(&mut der, SET)?;
        let mut part = String::new();
        while !attributes.is_empty() {
            let mut attribute = take(&mut attributes, SEQUENCE)?;
            if !part.is_empty() {
                part.push('+');
            }
            push_type(&mut part, take(&mut attribute, OBJECT_IDENTIFIER)?)?;
            part.push('=');
            push_value(&mut part, attribute)?;
        }
        parts.push(part);
    }
    parts.reverse();
    Some(parts.join(","))
}

/// Takes an element with this tag, and returns its content.
fn take<'a>(der: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (&[found, first], rest) = der.split_first_chunk()?;
    let (length, rest) = match first {
        0x81 => (usize::from(*rest.first()?), &rest[1..]),
        0x82 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        short => (usize::from(short), rest),
    };
    if found != tag || first > 0x82 || first == 0x80 {
        return None;
    }
    let (content, rest) = rest.split_at_checked(length)?;
    *der = rest;
    Some(content)
}

fn push_type(text: &mut String, identifier: &[u8]) -> Option<()> {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == identifier) {
        text.push_str(name);
        return Some(());
    }
    let mut arcs = Vec::new();
    let mut arc = 0_u32;
    for byte in identifier {
        arc = arc.checked_mul(128)? | u32::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            arcs.push(arc);
            arc = 0;
        }
    }
    let (&first, rest) = arcs.split_first()?;
    let root = (first / 40).min(2);
    write!(text, "{root}.{}", first - root * 40).ok()?;
    rest.iter().try_for_each(|arc| write!(text, ".{arc}")).ok()
}

/// Appends a value: as text when it is one, otherwise its DER in hexadecimal digits.
fn push_value(text: &mut String, der: &[u8]) -> Option<()> {
    let mut rest = der;
    let tag = *der.first()?;
    let value = match tag {
        UTF8_STRING | PRINTABLE_STRING | IA5_STRING => {
            std::str::from_utf8(take(&mut rest, tag)?).ok()
        }
        _ => None,
    };
    let Some(value) = value else {
        text.push('#');
        return der
            .iter()
            .try_for_each(|byte| write!(text, "{byte:02X}"))
            .ok();
    };
    if !rest.is_empty() {
        return None;
    }
    let last = value.chars().count().saturating_sub(1);
    for (index, character) in value.chars().enumerate() {
        match character {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => text.extend(['\\', character]),
            ' ' if index == 0 || index == last => text.push_str("\\ "),
            '#' if index == 0 => text.push_str("\\#"),
            _ if character.is_control() => {
                let mut bytes = [0; 4];
                let bytes = character.encode_utf8(&mut bytes).as_bytes();
                bytes
                    .iter()
                    .try_for_each(|byte| write!(text, "\\{byte:02X}"))
                    .ok()?;
            }
            _ => text.push(character),
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).expect("a short element");
        let head: &[u8] = if length < 128 {
            &[tag, length]
        } else {
            &[tag, 0x81, length]
        };
        [head, content].concat()
    }

    fn attribute(identifier: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
        let content = [element(0x06, identifier), element(tag, value)].concat();
        element(0x30, &content)
    }

    fn common_name(value: &str) -> Vec<u8> {
        element(0x31, &attribute(&[0x55, 4, 3], 0x0c, value.as_bytes()))
    }

    #[test]
    fn the_last_part_comes_first() {
        let organization = element(0x31, &attribute(&[0x55, 4, 10], 0x13, b"Example, Inc."));
        let der = [organization, common_name("Zoë")].concat();
        assert_eq!(
            distinguished_name(&der).as_deref(),
            Some("CN=Zoë,O=Example\\, Inc.")
        );
        assert_eq!(distinguished_name(b"").as_deref(), Some(""));
    }

    #[test]
    fn what_would_be_read_as_something_else_is_escaped() {
        for (value, text) in [
            (" a ", "CN=\\ a\\ "),
            ("#a", "CN=\\#a"),
            ("a\"b\\c+d;e<f>", "CN=a\\\"b\\\\c\\+d\\;e\\<f\\>"),
            ("a\r\nb\0", "CN=a\\0D\\0Ab\\00"),
            ("a=b#", "CN=a=b#"),
        ] {
            let name = distinguished_name(&common_name(value));
            assert_eq!(name.as_deref(), Some(text));
        }
        let long = "x".repeat(120);
        let name = distinguished_name(&common_name(&long));
        assert_eq!(name, Some(format!("CN={long}")));
    }

    #[test]
    fn several_attributes_of_a_part_are_joined_and_unknown_ones_have_numbers() {
        let pair = [
            attribute(&[0x2a, 0x86, 0x48, 1], 0x0c, b"v"),
            attribute(&[0x55, 4, 3], 0x1e, b"\0a"),
        ];
        let name = distinguished_name(&element(0x31, &pair.concat()));
        assert_eq!(name.as_deref(), Some("1.2.840.1=v+CN=#1E020061"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic_and_without_a_control_character(
            der in prop::collection::vec(any::<u8>(), 0..60),
            value: String,
        ) {
            let _ = distinguished_name(&der);
            let value: String = value.chars().take(25).collect();
            let name = distinguished_name(&common_name(&value)).expect("well formed");
            prop_assert!(!name.contains(char::is_control));
        }
    }
}
