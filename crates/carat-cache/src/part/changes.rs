use http::header::{CONTENT_LOCATION, LOCATION};
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};

use crate::{UrlHost, is_unsafe, url_key};
use carat_exchange::{Call, RequestTarget};

/// The URL that a request may change (RFC 9111, section 4.4).
pub(super) struct ChangedUrl {
    host: Box<[u8]>,
    port: u16,
    url: Box<[u8]>,
}

impl ChangedUrl {
    /// The URL of a request; `None` if the request's method is safe.
    pub(super) fn by(call: &Call) -> Option<ChangedUrl> {
        is_unsafe(&call.parts.method).then(|| ChangedUrl::of(call))
    }

    fn of(call: &Call) -> ChangedUrl {
        let target = RequestTarget::of(call);
        let host = UrlHost::of(target.server_name, target.server_port);
        ChangedUrl {
            host: target.server_name.into(),
            port: target.server_port,
            url: url_key(host, target.path, target.query),
        }
    }

    /// The URLs whose stored responses are outdated after a success: that of the request, and those
    /// on the same host that `Location` and `Content-Location` name.
    pub(super) fn all(self, response: &HeaderMap) -> Vec<Box<[u8]>> {
        let names = [LOCATION, CONTENT_LOCATION];
        let also = names.iter().filter_map(|name| {
            let value = response.get(name)?.to_str().ok()?;
            let uri: Uri = value.parse().ok()?;
            let is_own = uri.authority().is_none_or(|authority| {
                let host = authority.host().as_bytes();
                host.eq_ignore_ascii_case(&self.host)
            });
            let target = uri.path_and_query().filter(|_| is_own);
            let path = target.map(PathAndQuery::path)?;
            let query = target.and_then(PathAndQuery::query).unwrap_or_default();
            Some(url_key(UrlHost::of(&self.host, self.port), path, query))
        });
        let mut urls: Vec<_> = also.collect();
        urls.push(self.url);
        urls
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_change_concerns_its_own_url_and_those_that_the_response_names() {
        let mut call = Call::plain("POST", "/a?b");
        let host = HeaderValue::from_static("example.com");
        call.parts.headers.insert(http::header::HOST, host);
        let key = |path, query| url_key(UrlHost::of(b"example.com", 80), path, query);
        for (location, named) in [
            ("/c?d", Some(key("/c", "d"))),
            ("http://EXAMPLE.com/c", Some(key("/c", ""))),
            ("http://other.example/c", None),
            ("http://[", None),
        ] {
            let location = HeaderValue::from_static(location);
            let response = HeaderMap::from_iter([(LOCATION, location)]);
            let mut expected: Vec<_> = named.into_iter().collect();
            expected.push(key("/a", "b"));
            assert_eq!(ChangedUrl::of(&call).all(&response), expected);
        }
    }
}
