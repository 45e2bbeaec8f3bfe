use std::time::Duration;

use carat_fields::members;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue};

/// The longest time that a directive may name, about 68 years (RFC 9111, section 1.2.2).
const LONGEST: u64 = 1 << 31;

/// The directives of a response's Cache-Control that concern a shared cache.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each directive")]
pub(crate) struct ResponseDirectives {
    pub(crate) is_public: bool,
    pub(crate) is_private: bool,
    pub(crate) no_cache: bool,
    pub(crate) no_store: bool,
    pub(crate) must_understand: bool,
    /// `must-revalidate` or `proxy-revalidate`.
    pub(crate) must_revalidate: bool,
    pub(crate) max_age: Option<Duration>,
    pub(crate) s_maxage: Option<Duration>,
    pub(crate) stale_while_revalidate: Option<Duration>,
    pub(crate) stale_if_error: Option<Duration>,
}

/// The directives of a request's Cache-Control.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub struct RequestDirectives {
    /// The application must confirm a stored response before it is sent.
    pub no_cache: bool,
    /// The response is not to be stored.
    pub no_store: bool,
    /// The application is not to be asked.
    pub only_if_cached: bool,
    /// How old the response may be.
    pub max_age: Option<Duration>,
    /// For how long the response has to stay fresh.
    pub min_fresh: Option<Duration>,
}

impl ResponseDirectives {
    /// Reads the directives of a response. A directive with field names (`no-cache="x"`) counts as
    /// one without, which is stricter.
    pub(crate) fn of(headers: &HeaderMap) -> ResponseDirectives {
        let mut found = ResponseDirectives::default();
        for_each(headers, |name, argument| match name {
            "public" => found.is_public = true,
            "private" => found.is_private = true,
            "no-cache" => found.no_cache = true,
            "no-store" => found.no_store = true,
            "must-understand" => found.must_understand = true,
            "must-revalidate" | "proxy-revalidate" => found.must_revalidate = true,
            "max-age" => note(&mut found.max_age, argument),
            "s-maxage" => note(&mut found.s_maxage, argument),
            "stale-while-revalidate" => note(&mut found.stale_while_revalidate, argument),
            "stale-if-error" => note(&mut found.stale_if_error, argument),
            _ => {}
        });
        found
    }
}

impl RequestDirectives {
    pub(crate) fn of(headers: &HeaderMap) -> RequestDirectives {
        let mut found = RequestDirectives::default();
        for_each(headers, |name, argument| match name {
            "no-cache" => found.no_cache = true,
            "no-store" => found.no_store = true,
            "only-if-cached" => found.only_if_cached = true,
            "max-age" => note(&mut found.max_age, argument),
            "min-fresh" => note(&mut found.min_fresh, argument),
            _ => {}
        });
        found
    }
}

/// Notes the value of a directive. The first value counts. A value that is not a number counts as
/// zero seconds (RFC 9111, section 4.2.1).
fn note(slot: &mut Option<Duration>, argument: Option<&str>) {
    slot.get_or_insert_with(|| Duration::from_secs(argument.and_then(seconds).unwrap_or(0)));
}

/// A whole number of seconds.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(LONGEST).min(LONGEST))
}

/// Calls `found` with each directive: its name in lower case, and its argument without quotes.
fn for_each(headers: &HeaderMap, mut found: impl FnMut(&str, Option<&str>)) {
    let lines = headers.get_all(CACHE_CONTROL).iter();
    for member in lines.map(HeaderValue::as_bytes).flat_map(members) {
        // A directive with a byte beyond ASCII does not hide the directives beside it.
        let member = String::from_utf8_lossy(member);
        let (name, argument) = match member.split_once('=') {
            Some((name, argument)) => (name, Some(unquoted(argument.trim()))),
            None => (&*member, None),
        };
        found(&name.trim().to_ascii_lowercase(), argument);
    }
}

fn unquoted(argument: &str) -> &str {
    let inner = argument.strip_prefix('"');
    inner
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&'static str]) -> ResponseDirectives {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CACHE_CONTROL, HeaderValue::from_static(line));
        }
        ResponseDirectives::of(&headers)
    }

    fn max_age(line: &'static str) -> Option<u64> {
        of(&[line]).max_age.map(|age| age.as_secs())
    }

    #[test]
    fn directives_are_found_whatever_their_case_order_and_lines() {
        let found = of(&["Public , MAX-AGE=\"10\"", "s-maxage = 20,x", ""]);
        assert!(found.is_public && !found.is_private);
        assert_eq!(found.max_age, Some(Duration::from_secs(10)));
        assert_eq!(found.s_maxage, Some(Duration::from_secs(20)));
    }

    #[test]
    fn a_byte_beyond_ascii_hides_no_directive() {
        let mut headers = HeaderMap::new();
        for line in [&b"public"[..], b"x=\xe9, private"] {
            headers.append(
                CACHE_CONTROL,
                HeaderValue::from_bytes(line).expect("a value"),
            );
        }
        assert!(ResponseDirectives::of(&headers).is_private);
    }

    #[test]
    fn what_is_quoted_is_no_directive() {
        let found = of(&["x=\"public, max-age=10, \\\" s-maxage=1\", no-cache=\"a, private\""]);
        assert!(!found.is_public && found.no_cache && !found.is_private);
        assert_eq!((found.max_age, found.s_maxage), (None, None));
    }

    #[test]
    fn the_first_value_counts_and_one_that_is_no_number_is_nothing() {
        assert_eq!(max_age("max-age=10, max-age=20"), Some(10));
        for line in "max-age|max-age=|max-age=-1|max-age=1.5|max-age='10'".split('|') {
            assert_eq!(max_age(line), Some(0), "{line}");
        }
        assert_eq!(max_age("max-age=99999999999999999999999"), Some(LONGEST));
        assert_eq!(max_age("x-max-age=10"), None);
    }
}
