/// A weight (RFC 9110, section 12.4.2) in thousandths.
pub type Weight = u16;

/// The weight of a member that names none.
pub const FULL_WEIGHT: Weight = 1000;

/// The members of a list (RFC 9110, section 5.6.1), without the empty ones. A comma within quotes separates nothing.
///
/// ```
/// let members: Vec<&[u8]> = carat_fields::members(b"a, ,b;c=\"d, e\"").collect();
/// assert_eq!(members, [&b"a"[..], b"b;c=\"d, e\""]);
/// ```
pub fn members(list: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    parts(list, b',').filter(|member| !member.is_empty())
}

/// The parts of a text between separators that are not quoted, without the space around them.
pub(crate) fn parts(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> + Clone {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let (part, others) = split(rest?, separator);
        rest = others;
        Some(part.trim_ascii())
    })
}

fn split(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (index, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if *byte == separator && !is_quoted => {
                return (&text[..index], Some(&text[index + 1..]));
            }
            _ => {}
        }
    }
    (text, None)
}

/// The value of the parameter `q=0.5`; digits after the third are ignored. `None` for another one, or a malformed one.
///
/// ```
/// assert_eq!(carat_fields::weight(b"q=0.25"), Some(250));
/// assert_eq!(carat_fields::weight(b"q=2"), None);
/// ```
pub fn weight(parameter: &[u8]) -> Option<Weight> {
    let (whole, fraction) = weight_text(parameter)?.split_first()?;
    let digits = match fraction {
        [] => fraction,
        [b'.', digits @ ..] => digits,
        _ => return None,
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    match whole {
        b'0' => Some(thousandths(digits)),
        b'1' if digits.iter().all(|&digit| digit == b'0') => Some(FULL_WEIGHT),
        _ => None,
    }
}

/// The weight that a parameter names, if it does.
fn weight_text(parameter: &[u8]) -> Option<&[u8]> {
    let (name, value) = parameter.trim_ascii().split_at_checked(2)?;
    name.eq_ignore_ascii_case(b"q=").then_some(value)
}

fn thousandths(digits: &[u8]) -> Weight {
    let padded = digits.iter().copied().chain(std::iter::repeat(b'0'));
    padded
        .take(3)
        .fold(0, |sum, digit| sum * 10 + Weight::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(list: &str) -> Vec<&str> {
        let text = |bytes| std::str::from_utf8(bytes).expect("text");
        members(list.as_bytes()).map(text).collect()
    }

    #[test]
    fn empty_members_and_space_do_not_count() {
        assert_eq!(of(" a\t,,b , "), ["a", "b"]);
        assert!(of("").is_empty() && of(" , ,").is_empty());
    }

    #[test]
    fn what_is_quoted_separates_nothing() {
        assert_eq!(of("a=\"b,\\\",c\",d"), ["a=\"b,\\\",c\"", "d"]);
        assert_eq!(of("a,\"b,c"), ["a", "\"b,c"]);
        assert_eq!(of("a\\,b"), ["a\\", "b"]);
    }

    #[test]
    fn a_weight_is_a_number_up_to_one() {
        for (text, expected) in [
            ("q=1", 1000),
            ("Q=0.5", 500),
            (" q=0. ", 0),
            ("q=0.0019", 1),
        ] {
            assert_eq!(weight(text.as_bytes()), Some(expected), "{text}");
        }
        for text in "|q|q=|q=2|q=1.1|q=-1|q=.5|q=0,5|q=0.5x|level=1".split('|') {
            assert_eq!(weight(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_split_without_a_loss(list in prop::collection::vec(any::<u8>(), 0..60)) {
            let kept: usize = parts(&list, b',').map(|part| part.trim_ascii().len()).sum();
            prop_assert!(kept <= list.len() && members(&list).all(|member| !member.is_empty()));
        }
    }
}
