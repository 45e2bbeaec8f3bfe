use crate::list::{FULL_WEIGHT, Weight, members, parts, weight};

/// The media types that a client takes (RFC 9110, section 12.5.1).
///
/// ```
/// use carat_fields::Accept;
///
/// let accept = Accept::read([&b"text/html, text/*;q=0.5"[..]]);
/// assert_eq!(accept.weight(b"text/plain; charset=utf-8"), 500);
/// assert_eq!(accept.weight(b"application/json"), 0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept<'a>(Vec<(&'a [u8], Weight)>);

/// How closely a range describes a type: by name, by `type/*`, by `*/*`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Anything,
    Type,
    Name,
}

impl<'a> Accept<'a> {
    /// Reads the lines of `Accept`.
    pub fn read(lines: impl IntoIterator<Item = &'a [u8]>) -> Accept<'a> {
        let ranges = lines.into_iter().flat_map(members).map(|member| {
            let mut parts = parts(member, b';');
            let range = parts.next().unwrap_or_default();
            // A malformed weight says nothing: old versions of Java send `*/*; q=.2`.
            (range, parts.find_map(weight).unwrap_or(FULL_WEIGHT))
        });
        Accept(ranges.collect())
    }

    /// Whether the client takes any type, at whatever weight: it names `*/*`, or nothing.
    pub fn takes_anything(&self) -> bool {
        let mut ranges = self.0.iter();
        self.0.is_empty() || ranges.any(|(range, weight)| *weight > 0 && is_for_all(range))
    }

    /// The weight of a `Content-Type`, whose parameters do not count; 0 for one that the client does not take.
    pub fn weight(&self, content_type: &[u8]) -> Weight {
        let name = essence(content_type);
        let ranges = self.0.iter();
        let matching = ranges.filter_map(|(range, weight)| Some((closeness(range, name)?, weight)));
        let default = if self.0.is_empty() { FULL_WEIGHT } else { 0 };
        matching.max().map_or(default, |(_, weight)| *weight)
    }

    /// Whether the client names a type itself, without a `*`, and takes it.
    pub fn names(&self, media_type: &str) -> bool {
        let is_it = |range: &[u8]| range.eq_ignore_ascii_case(media_type.as_bytes());
        self.0.iter().any(|(range, _)| is_it(range)) && self.weight(media_type.as_bytes()) > 0
    }
}

/// A `Content-Type` without its parameters.
fn essence(content_type: &[u8]) -> &[u8] {
    parts(content_type, b';').next().unwrap_or_default()
}

fn is_for_all(range: &[u8]) -> bool {
    matches!(range, b"*/*" | b"*")
}

fn closeness(range: &[u8], name: &[u8]) -> Option<Closeness> {
    let with_slash = |text: &[u8]| text.iter().position(|byte| *byte == b'/').map(|at| at + 1);
    if is_for_all(range) {
        return Some(Closeness::Anything);
    }
    if range.eq_ignore_ascii_case(name) {
        return Some(Closeness::Name);
    }
    let (wanted, found) = (with_slash(range)?, with_slash(name)?);
    let is_type = &range[wanted..] == b"*" && range[..wanted].eq_ignore_ascii_case(&name[..found]);
    is_type.then_some(Closeness::Type)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weight(accept: &str, content_type: &str) -> Weight {
        Accept::read([accept.as_bytes()]).weight(content_type.as_bytes())
    }

    #[test]
    fn the_closest_range_has_the_weight() {
        for (accept, expected) in [
            ("", 1000),
            (" , ", 1000),
            ("text/html", 1000),
            ("TEXT/HTML;q=0.3", 300),
            ("text/*;q=0.2, */*", 200),
            ("text/*;q=0, text/html", 1000),
            ("*/*, text/html;q=0", 0),
            ("text/html;level=1;q=0", 0),
            ("text/html;a=\",;q=0\";q=0.7", 700),
            ("*/*;q=0.1", 100),
            ("*;q=0.1", 100),
            ("application/json", 0),
            ("text/htm, text/htmlx, text, */html", 0),
            ("text/html;q=0", 0),
        ] {
            let found = weight(accept, "text/html; charset=utf-8");
            assert_eq!(found, expected, "{accept}");
        }
        assert_eq!(weight("text/html", ""), 0);
        assert_eq!(weight("*/*", ""), 1000);
    }

    #[test]
    fn anything_is_taken_by_who_says_so_or_nothing() {
        let takes = |accept: &str| Accept::read([accept.as_bytes()]).takes_anything();
        for accept in ["", "text/html,*/*;q=0.1", "image/gif, *; q=.2", "*/*; q=.2"] {
            assert!(takes(accept), "{accept}");
        }
        for accept in ["text/html", "text/*", "*/*;q=0", "application/json, x/*"] {
            assert!(!takes(accept), "{accept}");
        }
    }

    #[test]
    fn a_type_is_named_without_a_wildcard_and_with_a_weight() {
        let names = |accept: &str| Accept::read([accept.as_bytes()]).names("text/html");
        assert!(names("a/b, Text/HTML;q=0.1"));
        for accept in
            "|text/*|*/*|text/html;q=0|text/html;q=0.0|text/htmlx|x=\"text/html\"".split('|')
        {
            assert!(!names(accept), "{accept}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..3),
            kind in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let accept = Accept::read(lines.iter().map(Vec::as_slice));
            prop_assert!(accept.weight(&kind) <= FULL_WEIGHT);
            prop_assert!(!accept.takes_anything() || accept.weight(b"x/y") > 0);
        }
    }
}
