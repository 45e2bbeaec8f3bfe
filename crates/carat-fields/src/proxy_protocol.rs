//! The PROXY protocol, versions 1 and 2, by which a proxy says at the beginning of a connection for whom it connects.
//!
//! ```
//! use carat_fields::proxy_protocol::{Client, parse};
//!
//! let header = parse(b"PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\nGET").expect("well formed").expect("complete");
//! assert_eq!(header.length, 44);
//! let Client::Tcp { source, .. } = header.client else { panic!("a TCP client") };
//! assert_eq!(source.to_string(), "192.0.2.1:4711");
//! ```

mod v1;
mod v2;

use std::net::SocketAddr;

/// The longest header that is accepted, with all that a proxy of version 2 may add.
pub const PROXY_HEADER_LIMIT: usize = 4096;

/// The PROXY header at the beginning of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyHeader {
    /// Bytes of the header. What follows is the client's.
    pub length: usize,
    /// The client for whom the proxy connects.
    pub client: Client,
}

/// The client for whom a proxy connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// The proxy itself, such as for a health check, or a client whose address it does not know.
    Unknown,
    /// A client of TCP.
    Tcp {
        /// The client.
        source: SocketAddr,
        /// The address to which the client connected.
        destination: SocketAddr,
        /// Whether the connection of the client is encrypted; version 2 may say so.
        is_encrypted: bool,
    },
}

/// Why the beginning of a connection is no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadProxyHeader(&'static str);

impl BadProxyHeader {
    /// The reason, as a clause for the log.
    pub fn reason(self) -> &'static str {
        self.0
    }
}

/// Reads the header that `bytes` begin with. `None` while it is incomplete: then all bytes belong to it.
pub fn parse(bytes: &[u8]) -> Result<Option<ProxyHeader>, BadProxyHeader> {
    if begins(bytes, v2::SIGNATURE) {
        v2::parse(bytes)
    } else if begins(bytes, v1::SIGNATURE) {
        v1::parse(bytes)
    } else {
        Err(BadProxyHeader("the connection does not begin with one"))
    }
}

/// Whether `bytes` begin with `signature`, or are the beginning of it.
fn begins(bytes: &[u8], signature: &[u8]) -> bool {
    let count = bytes.len().min(signature.len());
    bytes[..count] == signature[..count]
}

#[cfg(test)]
mod tests;
