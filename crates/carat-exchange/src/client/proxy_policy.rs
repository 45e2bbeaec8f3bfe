use std::net::IpAddr;

use carat_fields::{ForwardedRequest, TrustedProxies, members};
use http::header::FORWARDED;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::client::forwarded_client::ForwardedClient;
use carat_settings::{ProxyHeaders, Settings};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The fields other than `X-Forwarded-For`, in the order of `ForwardedRequest::from_x_forwarded`.
const X_FORWARDED: [HeaderName; 3] = [
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-port"),
];

/// Further fields that Rack, Rails, or their libraries believe.
const BELIEVED: [HeaderName; 3] = [
    HeaderName::from_static("x-forwarded-scheme"),
    HeaderName::from_static("x-forwarded-ssl"),
    HeaderName::from_static("client-ip"),
];

/// The treatment of header fields by which a peer, such as a proxy, names its client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProxyFields {
    /// The fields reach the application, and the edge does not read them, because no option says which peers are
    /// trusted.
    #[default]
    Ignored,
    /// The peer is a trusted proxy, so its fields are read.
    Believed,
    /// The peer is not a trusted proxy, so its fields are removed.
    Removed,
}

/// The policy that says which peers are trusted, and which header fields of theirs are read.
pub struct ProxyPolicy {
    /// The option `trusted_proxies`; `None` if it is not set.
    trusted: Option<TrustedProxies>,
    nobody: TrustedProxies,
    family: ProxyHeaders,
}

impl ProxyPolicy {
    /// The policy of these options.
    pub fn new(settings: &Settings) -> ProxyPolicy {
        ProxyPolicy {
            trusted: settings.trusted_proxies.clone(),
            nobody: TrustedProxies::default(),
            family: settings.proxy_headers,
        }
    }

    /// Whether the peer with this address may name its clients. A peer on a Unix socket has no address, and may.
    pub fn fields_of(&self, address: Option<IpAddr>) -> ProxyFields {
        match (address, &self.trusted) {
            (None, _) => ProxyFields::Believed,
            (Some(_), None) => ProxyFields::Ignored,
            (Some(address), Some(trusted)) if trusted.contains(address) => ProxyFields::Believed,
            (Some(_), Some(_)) => ProxyFields::Removed,
        }
    }

    /// Whether the peer may send a PROXY header on a listener that expects one. Any peer may, unless `trusted_proxies`
    /// excludes it.
    pub fn may_proxy(&self, address: Option<IpAddr>) -> bool {
        self.fields_of(address) != ProxyFields::Removed
    }

    /// Reads the header fields of a request about its client, and removes the fields that must not be believed.
    pub fn receive(
        &self,
        fields: ProxyFields,
        headers: &mut HeaderMap,
    ) -> Option<Box<ForwardedClient>> {
        match fields {
            ProxyFields::Ignored => None,
            ProxyFields::Removed => {
                self.remove(headers, true);
                None
            }
            ProxyFields::Believed => {
                let client = self.read(headers);
                if self.trusted.is_some() {
                    self.remove(headers, false);
                }
                (client != ForwardedClient::default()).then(|| Box::new(client))
            }
        }
    }

    fn read(&self, headers: &HeaderMap) -> ForwardedClient {
        let trusted = self.trusted.as_ref().unwrap_or(&self.nobody);
        let request = match self.family {
            ProxyHeaders::XForwarded => {
                let last = |name: &HeaderName| {
                    let lines = headers.get_all(name).iter().map(HeaderValue::as_bytes);
                    lines.rev().find(|line| members(line).next().is_some())
                };
                let fields = [&X_FORWARDED[0], &X_FORWARDED[1], &X_FORWARDED[2]].map(last);
                let clients = headers.get_all(X_FORWARDED_FOR).iter().rev();
                let clients = clients.map(HeaderValue::as_bytes);
                ForwardedRequest::from_x_forwarded(fields, clients, trusted)
            }
            ProxyHeaders::Forwarded => {
                let lines = headers.get_all(FORWARDED).iter();
                ForwardedRequest::from_forwarded(lines.map(HeaderValue::as_bytes), trusted)
            }
        };
        ForwardedClient::from(request)
    }

    /// Removes the fields of the family that the proxy does not set; with `all`, the fields of both families.
    fn remove(&self, headers: &mut HeaderMap, all: bool) {
        if all || self.family == ProxyHeaders::XForwarded {
            headers.remove(FORWARDED);
        }
        if all || self.family == ProxyHeaders::Forwarded {
            headers.remove(X_FORWARDED_FOR);
            X_FORWARDED.iter().chain(&BELIEVED).for_each(|name| {
                headers.remove(name);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(trusted: Option<&[&str]>, family: ProxyHeaders) -> ProxyPolicy {
        let mut settings = Settings::plain();
        settings.proxy_headers = family;
        settings.trusted_proxies = trusted.map(|networks| {
            let networks = networks.iter().map(|network| network.parse());
            TrustedProxies::new(networks.collect::<Result<_, _>>().expect("networks"))
        });
        ProxyPolicy::new(&settings)
    }

    fn headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-forwarded-for", "6.6.6.6"),
            ("x-forwarded-for", "192.0.2.1, 10.0.0.2"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-proto", " , "),
            ("x-forwarded-host", "example.org:8443"),
            ("x-forwarded-port", "444"),
            ("x-forwarded-ssl", "on"),
            ("forwarded", "for=192.0.2.9;proto=http;host=other.example"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers
    }

    fn received(policy: &ProxyPolicy, address: Option<&str>) -> (Option<ForwardedClient>, usize) {
        let mut headers = headers();
        let address = address.map(|address| address.parse().expect("an address"));
        let client = policy.receive(policy.fields_of(address), &mut headers);
        (client.map(|client| *client), headers.len())
    }

    fn by_list() -> ForwardedClient {
        ForwardedClient {
            remote: Some("192.0.2.1".to_owned()),
            scheme: Some(carat_wire::Scheme::Https),
            host: Some(Box::from(&b"example.org:8443"[..])),
            port: Some(444),
        }
    }

    #[test]
    fn nothing_is_read_or_removed_while_nobody_is_trusted() {
        let policy = policy(None, ProxyHeaders::XForwarded);
        assert_eq!(received(&policy, Some("10.0.0.1")), (None, 8));
    }

    #[test]
    fn a_peer_on_a_unix_socket_is_believed() {
        let policy = policy(None, ProxyHeaders::XForwarded);
        let (client, left) = received(&policy, None);
        let remote = client.expect("a client").remote;
        assert_eq!((remote.as_deref(), left), (Some("10.0.0.2"), 8));
    }

    #[test]
    fn a_trusted_proxy_is_believed_and_the_other_family_is_removed() {
        let trusted = Some(&["10.0.0.0/8"][..]);
        let lists = policy(trusted, ProxyHeaders::XForwarded);
        assert_eq!(received(&lists, Some("10.0.0.1")), (Some(by_list()), 7));
        let field = policy(trusted, ProxyHeaders::Forwarded);
        let (client, left) = received(&field, Some("10.0.0.1"));
        let client = client.expect("a client");
        assert_eq!(client.remote.as_deref(), Some("192.0.2.9"));
        assert_eq!(client.scheme, Some(carat_wire::Scheme::Http));
        assert_eq!(client.host.as_deref(), Some(&b"other.example"[..]));
        assert_eq!(left, 1);
    }

    #[test]
    fn what_another_peer_says_is_removed() {
        for trusted in [&["10.0.0.0/8"][..], &[]] {
            let policy = policy(Some(trusted), ProxyHeaders::XForwarded);
            assert_eq!(received(&policy, Some("192.0.2.7")), (None, 0));
            assert!(!policy.may_proxy("192.0.2.7".parse().ok()));
        }
    }
}
