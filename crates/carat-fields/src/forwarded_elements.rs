use std::collections::VecDeque;

/// The words of one proxy about a request: an element of `Forwarded`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ForwardedElement<'a> {
    /// The parameter `for`.
    pub(crate) client: Option<&'a [u8]>,
    pub(crate) proto: Option<&'a [u8]>,
    pub(crate) host: Option<&'a [u8]>,
}

/// The most elements that are kept: those of the nearest proxies.
pub(crate) const ELEMENTS_LIMIT: usize = 32;

/// Appends the elements of a line of `Forwarded` (RFC 7239, section 4) that are not empty, and keeps the last ones. `None`
/// for a line that is not well formed.
pub(crate) fn push_elements<'a>(
    elements: &mut VecDeque<ForwardedElement<'a>>,
    line: &'a [u8],
) -> Option<()> {
    let mut rest = line.trim_ascii();
    let mut is_new = true;
    while let Some((first, after)) = rest.split_first() {
        match first {
            b',' | b';' | b' ' | b'\t' => {
                is_new |= *first == b',';
                rest = after;
            }
            _ => {
                if std::mem::take(&mut is_new) {
                    push(elements);
                }
                rest = pair(rest, elements.back_mut()?)?;
            }
        }
    }
    Some(())
}

fn push(elements: &mut VecDeque<ForwardedElement<'_>>) {
    if elements.len() == ELEMENTS_LIMIT {
        elements.pop_front();
    }
    elements.push_back(ForwardedElement::default());
}

/// Reads `name=value` into `element`. Returns what follows, which begins with a separator.
fn pair<'a>(text: &'a [u8], element: &mut ForwardedElement<'a>) -> Option<&'a [u8]> {
    let equals = text.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&text[..equals], &text[equals + 1..]);
    let (value, rest) = match value.strip_prefix(b"\"") {
        Some(quoted) => {
            let end = quoted.iter().position(|byte| *byte == b'"')?;
            (&quoted[..end], &quoted[end + 1..])
        }
        None => value.split_at(
            value
                .iter()
                .position(|byte| is_separator(*byte))
                .unwrap_or(value.len()),
        ),
    };
    // No node, scheme or host needs an escape.
    let is_plain = !value.contains(&b'\\') && name.iter().all(u8::is_ascii_alphanumeric);
    if !is_plain || value.is_empty() || !rest.first().is_none_or(|byte| is_separator(*byte)) {
        return None;
    }
    let field = match name {
        _ if name.eq_ignore_ascii_case(b"for") => &mut element.client,
        _ if name.eq_ignore_ascii_case(b"proto") => &mut element.proto,
        _ if name.eq_ignore_ascii_case(b"host") => &mut element.host,
        _ => return Some(rest),
    };
    // A parameter that occurs twice is ambiguous.
    field.replace(value).is_none().then_some(rest)
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b' ' | b'\t')
}
