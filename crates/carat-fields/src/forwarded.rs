//! The words of proxies about the requests that they pass on.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use crate::TrustedProxies;
use crate::forwarded_elements::push_elements;

/// A request as the client sent it to the first proxy, as far as trusted proxies say so.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ForwardedRequest<'a> {
    /// The address of the first peer, from the server's side, that is no trusted proxy.
    pub address: Option<IpAddr>,
    /// The scheme, such as `https`.
    pub proto: Option<&'a [u8]>,
    /// The host that the client named, with its port if it named one.
    pub host: Option<&'a [u8]>,
    /// The port that the client connected to.
    pub port: Option<&'a [u8]>,
}

impl<'a> ForwardedRequest<'a> {
    /// Reads `Forwarded` (RFC 7239) of a peer that is a trusted proxy. Elements count from the right, up to the first
    /// whose client is no trusted proxy: that client wrote the elements before it. A malformed field says nothing.
    pub fn from_forwarded(
        lines: impl Iterator<Item = &'a [u8]>,
        proxies: &TrustedProxies,
    ) -> ForwardedRequest<'a> {
        let mut elements = VecDeque::new();
        for line in lines {
            if push_elements(&mut elements, line).is_none() {
                return ForwardedRequest::default();
            }
        }
        let mut request = ForwardedRequest::default();
        for element in elements.into_iter().rev() {
            request.proto = element.proto.or(request.proto);
            request.host = element.host.or(request.host);
            let node = element.client.map_or(Node::Unknown, Node::of);
            if !node.is_passed(&mut request.address, proxies) {
                break;
            }
        }
        request
    }

    /// Reads the values of `X-Forwarded-For`, which each proxy extends, and the last value of each other field: the
    /// client may have sent the earlier ones.
    pub fn from_x_forwarded(
        lines: [Option<&'a [u8]>; 3],
        clients: impl Iterator<Item = &'a [u8]>,
        proxies: &TrustedProxies,
    ) -> ForwardedRequest<'a> {
        let [proto, host, port] = lines.map(|line| line.and_then(last_value));
        ForwardedRequest {
            address: client_address(clients, proxies),
            proto,
            host,
            port,
        }
    }
}

/// The client by the lines of `X-Forwarded-For`, the last line first.
fn client_address<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    proxies: &TrustedProxies,
) -> Option<IpAddr> {
    let mut client = None;
    let nodes = lines.flat_map(|line| line.rsplit(|byte| *byte == b','));
    // A list may have empty members (RFC 9110, section 5.6.1.2).
    let mut nodes = nodes.map(<[u8]>::trim_ascii).filter(|it| !it.is_empty());
    // The search continues behind each trusted proxy.
    let _ = nodes.all(|node| Node::of(node).is_passed(&mut client, proxies));
    client
}

fn last_value(line: &[u8]) -> Option<&[u8]> {
    let mut values = line.rsplit(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    values.find(|value| !value.is_empty())
}

/// The sender of the request, by the word of a proxy.
enum Node {
    Address(IpAddr),
    /// A proxy that connects through a Unix socket: `unix:` in nginx.
    Socket,
    Unknown,
}

impl Node {
    fn of(text: &[u8]) -> Node {
        match node_address(text) {
            Some(address) => Node::Address(address),
            None if matches!(text, b"unix:" | b"unix") => Node::Socket,
            None => Node::Unknown,
        }
    }

    /// Notes the address of the node. Returns whether a trusted proxy wrote the nodes before it.
    fn is_passed(&self, client: &mut Option<IpAddr>, proxies: &TrustedProxies) -> bool {
        match self {
            Node::Address(address) => {
                *client = Some(*address);
                proxies.contains(*address)
            }
            Node::Socket => true,
            Node::Unknown => false,
        }
    }
}

/// The address of a node, which may have a port: `192.0.2.1:80`, `[2001:db8::1]:80`. `unknown` and `_hidden` have
/// none.
fn node_address(node: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(node).ok()?;
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    let address = bare.parse().ok();
    let address = address.or_else(|| text.parse().ok().map(|at: SocketAddr| at.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests;
