use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

/// Compressible types in addition to `text/*`, `*+json` and `*+xml`. Most others are compressed
/// already.
const TYPES: [&str; 21] = [
    "application/ecmascript",
    "application/geo+json-seq",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json-seq",
    "application/jsonl",
    "application/ndjson",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/vnd.ms-fontobject",
    "application/wasm",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "font/otf",
    "font/ttf",
];

/// Header fields with a digest of the bytes that are sent (RFC 9530, RFC 3230, RFC 1864), which a
/// coding would change.
const DIGESTS: [HeaderName; 4] = [
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("repr-digest"),
    HeaderName::from_static("digest"),
    HeaderName::from_static("content-md5"),
];

/// Whether a response may be sent in a content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compressible {
    /// The response must be sent as it is.
    No,
    /// The length of the response is unknown: a response to HEAD without Content-Length.
    Perhaps,
    /// The response is a 304, which may confirm an encoded response.
    Confirms,
    Yes,
}

impl Compressible {
    /// Examines a response. `length` is the length of its body, if it is known; `is_head` when it
    /// has no body because the request is HEAD.
    pub(super) fn of<B>(
        response: &Response<B>,
        length: Option<u64>,
        is_head: bool,
        min_bytes: u64,
    ) -> Compressible {
        let headers = response.headers();
        if !allows_coding(response.status()) || !is_untouched(headers) {
            return Compressible::No;
        }
        let kind = headers.get(CONTENT_TYPE);
        if response.status() == StatusCode::NOT_MODIFIED && kind.is_none() {
            return Compressible::Confirms;
        }
        if !kind.is_some_and(|kind| is_compressible_type(kind.as_bytes())) {
            return Compressible::No;
        }
        if response.status() == StatusCode::NOT_MODIFIED {
            return Compressible::Confirms;
        }
        let length = length.filter(|_| !is_head);
        match length.or_else(|| declared_length(headers)) {
            Some(length) if length == 0 || length < min_bytes => Compressible::No,
            None if is_head => Compressible::Perhaps,
            _ => Compressible::Yes,
        }
    }
}

/// The Content-Length that the application has declared.
pub(super) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn allows_coding(status: StatusCode) -> bool {
    !matches!(
        status,
        StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::PARTIAL_CONTENT
    )
}

/// Whether no header field rules out a coding.
fn is_untouched(headers: &HeaderMap) -> bool {
    let is_plain = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    headers.get_all(CONTENT_ENCODING).iter().all(is_plain)
        && !headers.contains_key(CONTENT_RANGE)
        && !lists(headers, &CACHE_CONTROL, b"no-transform")
        && !DIGESTS.iter().any(|digest| headers.contains_key(digest))
}

/// Whether a comma-separated header has this member, ignoring case.
pub(super) fn lists(headers: &HeaderMap, name: &HeaderName, member: &[u8]) -> bool {
    let lines = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    lines
        .flat_map(|line| line.split(|&byte| byte == b','))
        .any(|found| found.trim_ascii().eq_ignore_ascii_case(member))
}

fn is_compressible_type(content_type: &[u8]) -> bool {
    let essence = content_type.split(|&byte| byte == b';').next();
    let kind = essence.unwrap_or_default().trim_ascii();
    let begins = |start: &[u8]| {
        kind.get(..start.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(start))
    };
    let ends = |end: &[u8]| {
        let found = kind.len().checked_sub(end.len()).map(|at| &kind[at..]);
        found.is_some_and(|found| found.eq_ignore_ascii_case(end))
    };
    begins(b"text/")
        || ends(b"+json")
        || ends(b"+xml")
        || TYPES
            .iter()
            .any(|known| kind.eq_ignore_ascii_case(known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN_BYTES: u64 = 10;

    /// The length of the body of a response.
    const LENGTH: Option<u64> = Some(10);

    /// The head of a response with these header fields.
    fn response(status: u16, lines: &[(&str, &str)]) -> Response<()> {
        let mut builder = Response::builder().status(status);
        for (name, value) in lines {
            builder = builder.header(*name, *value);
        }
        builder.body(()).expect("well formed")
    }

    fn of(status: u16, lines: &[(&str, &str)]) -> Compressible {
        Compressible::of(&response(status, lines), LENGTH, false, MIN_BYTES)
    }

    const TEXT: (&str, &str) = ("content-type", "text/plain");

    #[test]
    fn text_by_whatever_name_is_compressible() {
        let texts = "text/html|TEXT/HTML; charset=utf-8|text/event-stream|application/json|\
            application/json;charset=utf-8|application/problem+json ; x|\
            application/vnd.api+JSON|image/svg+xml|application/xhtml+xml|\
            application/javascript|application/wasm|font/ttf";
        for kind in texts.split('|') {
            let found = of(200, &[("content-type", kind)]);
            assert_eq!(found, Compressible::Yes, "{kind}");
        }
    }

    #[test]
    fn what_is_compressed_already_or_unknown_is_not() {
        let texts = "image/png|image/jpeg|image/svg|video/mp4|audio/mpeg|application/zip|\
            application/gzip|application/pdf|application/octet-stream|font/woff|\
            font/woff2|multipart/byteranges; boundary=x|text|json|+jso|";
        for kind in texts.split('|') {
            let found = of(200, &[("content-type", kind)]);
            assert_eq!(found, Compressible::No, "{kind}");
        }
        assert_eq!(of(200, &[]), Compressible::No);
    }

    #[test]
    fn a_status_that_has_no_whole_body_forbids_it() {
        for status in [204, 205, 206] {
            assert_eq!(of(status, &[TEXT]), Compressible::No, "{status}");
        }
        for status in [200, 201, 404, 500] {
            assert_eq!(of(status, &[TEXT]), Compressible::Yes, "{status}");
        }
    }

    #[test]
    fn headers_that_speak_of_the_very_bytes_forbid_it() {
        for line in [
            ("content-encoding", "gzip"),
            ("content-encoding", "identity, br"),
            ("content-range", "bytes 0-9/10"),
            ("cache-control", "no-transform"),
            ("cache-control", "public,No-Transform , max-age=1"),
            ("content-digest", "sha-256=:x:"),
            ("content-md5", "x"),
        ] {
            assert_eq!(of(200, &[TEXT, line]), Compressible::No, "{line:?}");
            assert_eq!(of(304, &[line]), Compressible::No, "{line:?}");
        }
        for line in [
            ("content-encoding", "identity"),
            ("cache-control", "no-store, private"),
            ("cache-control", "x=no-transform"),
        ] {
            assert_eq!(of(200, &[TEXT, line]), Compressible::Yes, "{line:?}");
        }
    }

    #[test]
    fn a_304_confirms_what_may_have_been_compressed() {
        assert_eq!(of(304, &[]), Compressible::Confirms);
        assert_eq!(of(304, &[TEXT]), Compressible::Confirms);
        assert_eq!(of(304, &[("content-type", "image/png")]), Compressible::No);
    }

    #[test]
    fn a_short_or_empty_body_stays_as_it_is() {
        let response = response(200, &[TEXT]);
        let of = |length, min| Compressible::of(&response, Some(length), false, min);
        assert_eq!(of(10, 11), Compressible::No);
        assert_eq!(of(0, 0), Compressible::No);
    }

    #[test]
    fn the_answer_to_head_is_judged_by_the_length_it_tells() {
        for (length, compressible) in [("9", Compressible::No), ("10", Compressible::Yes)] {
            let lines = [TEXT, ("content-length", length)];
            let found = Compressible::of(&response(200, &lines), Some(0), true, MIN_BYTES);
            assert_eq!(found, compressible);
        }
        let found = Compressible::of(&response(200, &[TEXT]), Some(0), true, MIN_BYTES);
        assert_eq!(found, Compressible::Perhaps);
    }
}
