use std::net::IpAddr;

use carat_fields::ForwardedRequest;
use carat_wire::Scheme;

/// The client of a request that a trusted proxy has passed on, as far as the proxy names it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ForwardedClient {
    /// The client's address as text.
    pub remote: Option<String>,
    pub scheme: Option<Scheme>,
    /// The host that the client named, with its port if it named one.
    pub host: Option<Box<[u8]>>,
    /// The port that the client connected to.
    pub port: Option<u16>,
}

impl From<ForwardedRequest<'_>> for ForwardedClient {
    fn from(request: ForwardedRequest<'_>) -> ForwardedClient {
        let port = request.port.and_then(|port| std::str::from_utf8(port).ok());
        ForwardedClient {
            remote: request.address.as_ref().map(IpAddr::to_string),
            scheme: request.proto.and_then(scheme),
            host: request
                .host
                .filter(|host| carat_guard::is_authority(host))
                .map(Box::from),
            port: port
                .and_then(|port| port.parse().ok())
                .filter(|port| *port > 0),
        }
    }
}

fn scheme(name: &[u8]) -> Option<Scheme> {
    if name.eq_ignore_ascii_case(b"https") || name.eq_ignore_ascii_case(b"wss") {
        Some(Scheme::Https)
    } else if name.eq_ignore_ascii_case(b"http") || name.eq_ignore_ascii_case(b"ws") {
        Some(Scheme::Http)
    } else {
        None
    }
}
