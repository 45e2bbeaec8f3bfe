use carat_fields::{Accept, members};
use http::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Header fields that frameworks read although no response names them in Vary. They are in the key:
/// otherwise a client could send them to choose the page that other clients get. `X-Forwarded-For`
/// is not among them, since it differs for each client.
const UNNAMED_FIELDS: [&str; 30] = [
    "accept-version",
    "forwarded",
    "hx-boosted",
    "hx-history-restore-request",
    "hx-request",
    "hx-target",
    "turbo-frame",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-forwarded-proto",
    "x-forwarded-scheme",
    "x-forwarded-server",
    "x-forwarded-ssl",
    "x-host",
    "x-http-host-override",
    "x-http-method-override",
    "x-inertia",
    "x-inertia-partial-component",
    "x-inertia-partial-data",
    "x-inertia-partial-except",
    "x-original-host",
    "x-original-url",
    "x-pjax",
    "x-pjax-container",
    "x-requested-with",
    "x-rewrite-url",
    "x-script-name",
    "x-up-target",
    "x-url-scheme",
];

/// The most fields that a response may name in Vary. A response that names more is not stored.
const VARY_LIMIT: usize = 16;

/// The host that the application takes a request to be for, with its port.
#[derive(Debug, Clone, Copy)]
pub struct UrlHost<'a> {
    name: &'a [u8],
    port: u16,
}

impl<'a> UrlHost<'a> {
    /// The host with this name, in letters of any case.
    pub fn of(name: &'a [u8], port: u16) -> UrlHost<'a> {
        UrlHost { name, port }
    }
}

/// The URL of a request, and the header fields that applications are known to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// Host, path and query.
    pub(crate) url: Box<[u8]>,
    /// The scheme, and the values of `UNNAMED_FIELDS`.
    pub(crate) origin: Box<[u8]>,
}

impl RequestKey {
    /// The key of a request for this URL.
    pub fn new(
        scheme: &str,
        host: UrlHost<'_>,
        path: &str,
        query: &str,
        headers: &HeaderMap,
    ) -> RequestKey {
        let mut origin = Vec::from(scheme.as_bytes());
        for name in UNNAMED_FIELDS {
            for value in headers.get_all(name) {
                origin.extend_from_slice(b"\n");
                origin.extend_from_slice(name.as_bytes());
                origin.extend_from_slice(b":");
                origin.extend_from_slice(value.as_bytes());
            }
        }
        RequestKey {
            url: url_key(host, path, query),
            origin: origin.into(),
        }
    }

    /// The URL, by which the responses to it are invalidated.
    pub fn url(&self) -> &[u8] {
        &self.url
    }
}

/// The key of a URL: host, port, path, and query. The scheme is not in it.
pub fn url_key(host: UrlHost<'_>, path: &str, query: &str) -> Box<[u8]> {
    let UrlHost { name, port } = host;
    let length = name.len() + path.len() + query.len() + 4;
    let mut url = Vec::with_capacity(length);
    url.extend(name.iter().map(u8::to_ascii_lowercase));
    url.push(b'\n');
    url.extend_from_slice(&port.to_be_bytes());
    url.extend_from_slice(path.as_bytes());
    if !query.is_empty() {
        url.push(b'?');
        url.extend_from_slice(query.as_bytes());
    }
    url.into()
}

/// The requests that a stored response answers: those with the same origin, and the same values of the fields that it
/// names in Vary (RFC 9111, section 4.1).
///
/// Frameworks choose a media type by Accept, but name Accept only in some responses; Rails does not
/// name it in responses to browsers. So a response that does not name Accept answers only requests
/// that accept its type. A response to a request that does not accept every type is a variant of
/// its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Selection {
    origin: Box<[u8]>,
    fields: Box<[(HeaderName, Vec<u8>)]>,
}

impl Selection {
    /// The selection of a response; `None` if Vary names too many fields, or contains something other than names.
    pub(crate) fn of(
        key: &RequestKey,
        request: &HeaderMap,
        response: &HeaderMap,
    ) -> Option<Selection> {
        let lines = response.get_all(VARY).iter().map(HeaderValue::as_bytes);
        let names = lines.flat_map(members).map(HeaderName::from_bytes);
        let mut names: Vec<HeaderName> = names.collect::<Result<_, _>>().ok()?;
        if !accept_of(request).takes_anything() {
            names.push(ACCEPT);
        }
        let fields = names.into_iter().map(|name| {
            let value = normalized(request, &name);
            (name, value)
        });
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by(|one, other| one.0.as_str().cmp(other.0.as_str()));
        fields.dedup();
        (fields.len() <= VARY_LIMIT).then(|| Selection {
            origin: key.origin.clone(),
            fields: fields.into(),
        })
    }

    /// Whether a response with these header fields answers a request.
    pub(crate) fn selects(
        &self,
        key: &RequestKey,
        request: &HeaderMap,
        response: &HeaderMap,
    ) -> bool {
        let mut fields = self.fields.iter();
        self.origin == key.origin
            && fields.all(|(name, value)| normalized(request, name) == *value)
            && (self.names(&ACCEPT) || takes(request, response))
    }

    /// The key under which requests wait for one response, if the response will name the same
    /// fields as this one.
    pub(crate) fn for_request(&self, key: &RequestKey, request: &HeaderMap) -> Vec<u8> {
        let mut text = unanswered(key, request);
        for (name, _) in &self.fields {
            text.push(b'\n');
            text.extend_from_slice(&normalized(request, name));
        }
        text
    }

    fn names(&self, field: &HeaderName) -> bool {
        self.fields.iter().any(|(name, _)| name == field)
    }

    pub(crate) fn bytes(&self) -> usize {
        let fields = self.fields.iter().map(|(_, value)| value.len() + 64);
        self.origin.len() + fields.sum::<usize>()
    }
}

/// The key under which requests wait for one response while no response for the URL is stored.
pub(crate) fn unanswered(key: &RequestKey, request: &HeaderMap) -> Vec<u8> {
    let mut text = Vec::from(&*key.origin);
    if !accept_of(request).takes_anything() {
        text.push(b'\n');
        text.extend_from_slice(&normalized(request, &ACCEPT));
    }
    text
}

/// Whether a client accepts the type of a response. A response without a type answers clients that
/// accept every type.
fn takes(request: &HeaderMap, response: &HeaderMap) -> bool {
    let content_type = response.get(CONTENT_TYPE);
    let content_type = content_type.map_or(&b""[..], HeaderValue::as_bytes);
    accept_of(request).weight(content_type) > 0
}

fn accept_of(request: &HeaderMap) -> Accept<'_> {
    Accept::read(request.get_all(ACCEPT).iter().map(HeaderValue::as_bytes))
}

/// The lines of a field, joined, without whitespace around members. Two fields are in lower case,
/// because their case does not matter.
fn normalized(request: &HeaderMap, name: &HeaderName) -> Vec<u8> {
    let ignores_case = *name == ACCEPT_ENCODING || *name == ACCEPT_LANGUAGE;
    let mut text = Vec::new();
    for (index, value) in request.get_all(name).iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        for (index, member) in value.as_bytes().split(|byte| *byte == b',').enumerate() {
            if index > 0 {
                text.push(b',');
            }
            text.extend_from_slice(member.trim_ascii());
        }
    }
    if ignores_case {
        text.make_ascii_lowercase();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::headers;

    fn key(request: &HeaderMap) -> RequestKey {
        RequestKey::new(
            "http",
            UrlHost::of(b"Example.com", 80),
            "/a",
            "b=1",
            request,
        )
    }

    #[test]
    fn a_response_answers_requests_with_the_same_values_of_what_it_names() {
        let request = headers(&[("accept-language", "de, EN"), ("cookie", "x")]);
        let response = headers(&[("vary", "Accept-Language"), ("vary", ", accept")]);
        let key = key(&request);
        let selection = Selection::of(&key, &request, &response).expect("few fields");
        let selects = |request: &HeaderMap| selection.selects(&key, request, &response);
        assert!(selects(&request));
        let same = headers(&[("accept-language", "de"), ("accept-language", "en")]);
        assert!(selects(&same));
        assert!(!selects(&headers(&[("accept-language", "de")])));
        let more = headers(&[("accept-language", "de,en"), ("accept", "x")]);
        assert!(!selects(&more));
    }

    /// Whether a page for a client with one Accept is sent to a client with another.
    fn is_shared(first: &'static str, second: &'static str, response: &HeaderMap) -> bool {
        let [first, second] = [first, second].map(|accept| match accept {
            "" => HeaderMap::new(),
            accept => headers(&[("accept", accept)]),
        });
        let selection = Selection::of(&key(&first), &first, response).expect("few fields");
        selection.selects(&key(&second), &second, response)
    }

    #[test]
    fn a_page_that_does_not_name_accept_is_for_those_who_take_its_type() {
        let page = headers(&[("content-type", "text/html; charset=utf-8")]);
        let browser = "text/html,application/xml;q=0.9,*/*;q=0.8";
        for accept in ["", "*/*", browser, "text/html", "TEXT/*;q=0.1, image/png"] {
            assert!(is_shared("", accept, &page), "{accept}");
            assert!(is_shared(browser, accept, &page), "{accept}");
        }
        for accept in "application/json|*/*;q=0|text/html;q=0, */*|text/htmlx|image/*".split('|') {
            assert!(!is_shared("", accept, &page), "{accept}");
            assert!(!is_shared(browser, accept, &page), "{accept}");
        }
        let untyped = headers(&[]);
        assert!(is_shared("", "*/*", &untyped) && !is_shared("", "text/html", &untyped));
        let named = headers(&[("content-type", "text/html"), ("vary", "accept")]);
        assert!(is_shared("a/b", "a/b", &named) && !is_shared("", browser, &named));
    }

    #[test]
    fn a_page_for_named_types_is_for_those_who_name_the_same() {
        let data = headers(&[("content-type", "application/json")]);
        let (json, more) = ("application/json", "application/json, a/b");
        assert!(is_shared(json, json, &data));
        for accept in ["", "*/*", more] {
            assert!(!is_shared(json, accept, &data), "{accept}");
        }
    }

    #[test]
    fn requests_that_would_not_share_a_page_do_not_wait_for_each_other() {
        let of = |accept| {
            let request = headers(&[("accept", accept)]);
            unanswered(&key(&request), &request)
        };
        assert_eq!(of("*/*"), of("text/html, */*;q=0.1"));
        assert_ne!(of("*/*"), of("application/json"));
        assert_ne!(of("text/html"), of("application/json"));
    }

    #[test]
    fn what_frameworks_read_unnamed_is_part_of_the_key() {
        let plain = headers(&[]);
        for name in UNNAMED_FIELDS {
            let request = headers(&[(name, "evil.example")]);
            assert_ne!(key(&request), key(&plain), "{name}");
            assert_eq!(key(&request).url(), key(&plain).url(), "{name}");
        }
        let other = headers(&[("x-forwarded-for", "192.0.2.1")]);
        assert_eq!(key(&other), key(&plain));
    }

    #[test]
    fn a_url_is_its_host_port_path_and_query() {
        let url = |host: &[u8], port, path, query| url_key(UrlHost::of(host, port), path, query);
        let one = url(b"A.example", 80, "/a", "b");
        assert_eq!(one, url(b"a.EXAMPLE", 80, "/a", "b"));
        for other in [
            url(b"b.example", 80, "/a", "b"),
            url(b"a.example", 81, "/a", "b"),
            url(b"a.example", 80, "/A", "b"),
            url(b"a.example", 80, "/a", "B"),
            url(b"a.example", 80, "/a", ""),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_response_that_names_too_much_is_not_stored() {
        let names: Vec<String> = (0..=VARY_LIMIT).map(|index| format!("x-{index}")).collect();
        let many = HeaderValue::try_from(names.join(",")).expect("valid");
        let response = HeaderMap::from_iter([(VARY, many)]);
        let request = headers(&[]);
        assert_eq!(Selection::of(&key(&request), &request, &response), None);
    }
}
