use std::time::SystemTime;

use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::headers::validators::Validators;

/// The conditions of a request (RFC 9110, 13).
#[derive(Clone, Default)]
pub(crate) struct Conditions {
    matches: Vec<HeaderValue>,
    unmodified_since: Option<SystemTime>,
    none_match: Vec<HeaderValue>,
    modified_since: Option<SystemTime>,
}

/// The verdict of a request's conditions about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Send,
    /// The client has this version: 304.
    NotModified,
    /// The client expects another version: 412.
    Failed,
}

impl Conditions {
    /// Reads the header fields of a request. A date that is invalid, or that occurs twice, counts
    /// as missing.
    pub(crate) fn of(headers: &HeaderMap) -> Conditions {
        let lines = |name| headers.get_all(name).iter().cloned().collect();
        Conditions {
            matches: lines(&IF_MATCH),
            unmodified_since: date(headers, &IF_UNMODIFIED_SINCE),
            none_match: lines(&IF_NONE_MATCH),
            modified_since: date(headers, &IF_MODIFIED_SINCE),
        }
    }

    /// Judges the conditions for one version of a file, in the order of RFC 9110, 13.2.2.
    pub(crate) fn judge(&self, version: &Validators) -> Verdict {
        let etag = version.etag.as_bytes();
        let fails = if self.matches.is_empty() {
            self.unmodified_since
                .is_some_and(|date| version.last_modified > date)
        } else {
            !self
                .matches
                .iter()
                .any(|line| lists(line, |tag| tag == etag))
        };
        if fails {
            return Verdict::Failed;
        }
        let is_current = if self.none_match.is_empty() {
            self.modified_since
                .is_some_and(|date| version.last_modified <= date)
        } else {
            // The weak comparison, because this server weakens the entity tags of responses that it
            // compresses.
            let is_same = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag) == etag;
            self.none_match.iter().any(|line| lists(line, is_same))
        };
        if is_current {
            Verdict::NotModified
        } else {
            Verdict::Send
        }
    }
}

/// Whether a line contains `*` or an entity tag for which `is_same` holds. The server's own tags contain no comma.
fn lists(line: &HeaderValue, is_same: impl Fn(&[u8]) -> bool) -> bool {
    let mut tags = line
        .as_bytes()
        .split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii);
    tags.any(|tag| tag == b"*" || is_same(tag))
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    httpdate::parse_http_date(value.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

    fn judge(lines: &[(&'static str, &'static str)]) -> Verdict {
        let version = Validators {
            etag: HeaderValue::from_static("\"x\""),
            last_modified: SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777),
        };
        let mut headers = HeaderMap::new();
        for &(name, value) in lines {
            headers.append(name, HeaderValue::from_static(value));
        }
        Conditions::of(&headers).judge(&version)
    }

    #[test]
    fn a_client_that_has_the_version_gets_304() {
        assert_eq!(judge(&[]), Verdict::Send);
        for tags in ["\"x\"", "W/\"x\"", "*", "\"a\", \"x\"", "\"a\",W/\"x\" "] {
            let found = judge(&[("if-none-match", tags)]);
            assert_eq!(found, Verdict::NotModified, "{tags}");
        }
        let found = judge(&[("if-none-match", "\"a\""), ("if-none-match", "\"x\"")]);
        assert_eq!(found, Verdict::NotModified);
        for (date, verdict) in [
            (BEFORE, Verdict::Send),
            (SAME, Verdict::NotModified),
            (AFTER, Verdict::NotModified),
        ] {
            assert_eq!(judge(&[("if-modified-since", date)]), verdict);
        }
    }

    #[test]
    fn a_tag_counts_more_than_a_date() {
        let found = judge(&[("if-none-match", "\"a\""), ("if-modified-since", AFTER)]);
        assert_eq!(found, Verdict::Send);
        let found = judge(&[("if-match", "\"x\""), ("if-unmodified-since", BEFORE)]);
        assert_eq!(found, Verdict::Send);
    }

    #[test]
    fn a_client_that_expects_another_version_gets_412() {
        assert_eq!(judge(&[("if-match", "\"a\"")]), Verdict::Failed);
        assert_eq!(judge(&[("if-match", "W/\"x\"")]), Verdict::Failed);
        assert_eq!(judge(&[("if-match", "*")]), Verdict::Send);
        assert_eq!(judge(&[("if-unmodified-since", BEFORE)]), Verdict::Failed);
        assert_eq!(judge(&[("if-unmodified-since", SAME)]), Verdict::Send);
        let found = judge(&[("if-match", "\"x\""), ("if-none-match", "\"x\"")]);
        assert_eq!(found, Verdict::NotModified);
    }

    #[test]
    fn what_is_no_date_says_nothing() {
        assert_eq!(judge(&[("if-modified-since", "yesterday")]), Verdict::Send);
        let found = judge(&[("if-modified-since", AFTER), ("if-modified-since", AFTER)]);
        assert_eq!(found, Verdict::Send);
    }
}
