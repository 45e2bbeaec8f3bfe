use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::entry::StoredResponse;
use crate::storable::date_of;

/// Header fields of a stored response that a 304 does not replace (RFC 9111, section 3.2).
const KEPT_FIELDS: [HeaderName; 5] = [
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_RANGE,
    CONTENT_TYPE,
    TRANSFER_ENCODING,
];

/// Turns a request into one that asks the application whether the stored response still holds. The
/// client's own conditions are removed: the edge evaluates them against the stored response once
/// that is confirmed.
pub fn ask_to_confirm(request: &mut HeaderMap, entry: &StoredResponse) {
    for name in [IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_RANGE, RANGE] {
        request.remove(name);
    }
    let pairs = [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)];
    for (known, asked) in pairs {
        if let Some(value) = entry.headers.get(known) {
            request.insert(asked, value.clone());
        }
    }
}

/// Whether the client has the stored response already (RFC 9110, section 13.2.2).
pub fn client_has(request: &HeaderMap, entry: &StoredResponse) -> bool {
    if !entry.status.is_success() {
        return false;
    }
    if request.contains_key(IF_NONE_MATCH) {
        let known = entry.headers.get(ETAG).map(|tag| opaque(tag.as_bytes()));
        let lines = request.get_all(IF_NONE_MATCH).iter();
        return lines.map(HeaderValue::as_bytes).any(|line| {
            line.trim_ascii() == b"*" || known.is_some_and(|known| lists_tag(line, known))
        });
    }
    let since = request.get(IF_MODIFIED_SINCE).and_then(date_of);
    let modified = entry.headers.get(LAST_MODIFIED).and_then(date_of);
    since.is_some_and(|since| modified.is_some_and(|modified| modified <= since))
}

/// The tag without the prefix of weak tags.
fn opaque(tag: &[u8]) -> &[u8] {
    tag.strip_prefix(b"W/").unwrap_or(tag)
}

/// Whether a list of entity tags has this one. A comma may be part of a tag.
fn lists_tag(list: &[u8], known: &[u8]) -> bool {
    let mut rest = list;
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        let tag = &rest[start..];
        let Some(end) = tag[1..].iter().position(|byte| *byte == b'"') else {
            return false;
        };
        if &tag[..end + 2] == known {
            return true;
        }
        rest = &tag[end + 2..];
    }
    false
}

/// The header fields of the stored response after the application has confirmed it.
pub fn confirmed(stored: &HeaderMap, confirmation: &HeaderMap) -> HeaderMap {
    let mut headers = stored.clone();
    let names = confirmation
        .keys()
        .filter(|name| !KEPT_FIELDS.contains(name));
    for name in names {
        headers.remove(name);
        for value in confirmation.get_all(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    headers
}

/// Whether the application has failed, so that a stale response may be served instead.
pub fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::{entry, headers};

    const OLD: &str = "Sun, 09 Sep 2001 01:46:40 GMT";
    const NEW: &str = "Sun, 09 Sep 2001 01:46:41 GMT";

    #[test]
    fn a_client_that_names_the_tag_has_it() {
        let page = entry(&[("etag", "W/\"a,b\""), ("last-modified", OLD)], "page");
        let has = |lines: &[(&'static str, &'static str)]| client_has(&headers(lines), &page);
        for tags in "\"a,b\"|W/\"a,b\"|\"x\", W/\"a,b\"|*|x, \"a,b\"".split('|') {
            assert!(has(&[("if-none-match", tags)]), "{tags}");
        }
        for tags in ["\"a\"", "a,b", "\"a,b", "", "\"b\", \"a\""] {
            let lines = [("if-none-match", tags), ("if-modified-since", NEW)];
            assert!(!has(&lines), "{tags}: the date does not count beside tags");
        }
        assert!(has(&[("if-modified-since", OLD)]) && has(&[("if-modified-since", NEW)]));
        assert!(!has(&[("if-modified-since", "x")]) && !has(&[]));
    }

    #[test]
    fn the_application_is_asked_about_the_stored_response_only() {
        let page = entry(&[("etag", "\"own\""), ("last-modified", OLD)], "page");
        let mut request = headers(&[
            ("if-none-match", "\"client\""),
            ("range", "bytes=0-1"),
            ("if-range", "\"client\""),
            ("accept", "x"),
        ]);
        ask_to_confirm(&mut request, &page);
        let asked = headers(&[
            ("accept", "x"),
            ("if-none-match", "\"own\""),
            ("if-modified-since", OLD),
        ]);
        assert_eq!(request, asked);
    }

    #[test]
    fn a_confirmation_changes_what_it_says_and_nothing_about_the_content() {
        let stored = headers(&[
            ("etag", "\"x\""),
            ("x", "1"),
            ("y", "1"),
            ("content-type", "a/b"),
        ]);
        let said = headers(&[
            ("x", "2"),
            ("x", "3"),
            ("content-length", "0"),
            ("content-type", "c/d"),
        ]);
        let merged = headers(&[
            ("etag", "\"x\""),
            ("x", "2"),
            ("x", "3"),
            ("y", "1"),
            ("content-type", "a/b"),
        ]);
        assert_eq!(confirmed(&stored, &said), merged);
    }
}
