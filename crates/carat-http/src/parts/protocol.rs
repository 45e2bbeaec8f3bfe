use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use bytes::Bytes;

use super::protocol_core::ProtocolCore;
use crate::sockets::ClientStream;
use crate::time_limits::Deadline;
use carat_exchange::Peer;

/// A protocol other than HTTP/1.1, which turns the bytes of a connection into requests. When a connection begins, the
/// core determines whether its client speaks the protocol, and then leaves the whole connection to it.
pub trait Protocol {
    /// The name under which clients are counted, such as `http/1.1`.
    fn name(&self) -> &'static str;

    /// The name by which the handshake of an encrypted connection chooses the protocol (RFC 7301).
    fn token(&self) -> &'static str;

    /// The first bytes of a client that knows without a handshake that the server speaks the protocol. Empty if no
    /// client may begin in this way.
    fn preface(&self) -> &'static [u8];

    /// Serves a client until it or the server ends the connection.
    fn serve(self: Rc<Self>, connection: ProtocolConnection) -> ServingProtocol;
}

/// The future that serves one client.
pub type ServingProtocol = Pin<Box<dyn Future<Output = EndedConnection>>>;

/// The protocols other than HTTP/1.1 that clients may speak.
#[derive(Clone)]
pub(crate) struct Protocols(Rc<[Rc<dyn Protocol>]>);

impl FromIterator<Rc<dyn Protocol>> for Protocols {
    fn from_iter<T: IntoIterator<Item = Rc<dyn Protocol>>>(protocols: T) -> Protocols {
        Protocols(protocols.into_iter().collect())
    }
}

impl Protocols {
    /// The protocol that the handshake of an encrypted connection has chosen.
    pub(crate) fn chosen(&self, token: &str) -> Option<Rc<dyn Protocol>> {
        let mut protocols = self.0.iter();
        protocols.find(|it| it.token() == token).cloned()
    }

    /// The protocol that begins with these bytes, as far as they have arrived.
    pub(crate) fn recognize(&self, bytes: &[u8]) -> Option<Rc<dyn Protocol>> {
        let mut protocols = self.0.iter();
        let found = protocols.find(|it| {
            let preface = it.preface();
            let known = bytes.len().min(preface.len());
            known > 0 && bytes[..known] == preface[..known]
        });
        found.cloned()
    }
}

/// A connection whose client speaks a protocol other than HTTP/1.1.
pub struct ProtocolConnection {
    /// The connection.
    pub stream: ClientStream,
    /// The bytes that were already read from the connection.
    pub leading: Bytes,
    /// The two ends of the connection.
    pub peer: Rc<Peer>,
    /// The deadline of the connection.
    pub deadline: Rc<Deadline>,
    /// The core, which serves the requests.
    pub core: Rc<dyn ProtocolCore>,
}

/// A connection that a protocol does not serve any more.
pub struct EndedConnection {
    /// The connection; `None` if it is closed already.
    pub stream: Option<ClientStream>,
    /// How the connection is to be closed.
    pub end: ProtocolEnd,
}

/// How a connection that a protocol has served ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolEnd {
    /// Both sides have finished.
    Closed,
    /// The server has ended the connection, and the client has yet to read the reason.
    GoneAway,
    /// The client does not read.
    Stuck,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A protocol that serves nobody.
    struct Named {
        token: &'static str,
        preface: &'static [u8],
    }

    impl Protocol for Named {
        fn name(&self) -> &'static str {
            self.token
        }

        fn token(&self) -> &'static str {
            self.token
        }

        fn preface(&self) -> &'static [u8] {
            self.preface
        }

        fn serve(self: Rc<Self>, connection: ProtocolConnection) -> ServingProtocol {
            Box::pin(async move {
                EndedConnection {
                    stream: Some(connection.stream),
                    end: ProtocolEnd::Closed,
                }
            })
        }
    }

    #[test]
    fn a_protocol_is_found_by_its_token_and_by_its_first_bytes() {
        let named = |token, preface| Rc::new(Named { token, preface }) as Rc<dyn Protocol>;
        let protocols: Protocols = [named("silent", b""), named("loud", b"LOUD!")]
            .into_iter()
            .collect();
        let name = |found: Option<Rc<dyn Protocol>>| found.map(|it| it.name());
        assert_eq!(name(protocols.chosen("silent")), Some("silent"));
        assert_eq!(name(protocols.chosen("http/1.1")), None);
        for known in [&b"L"[..], b"LOUD!", b"LOUD! and more"] {
            assert_eq!(name(protocols.recognize(known)), Some("loud"));
        }
        for other in [&b""[..], b"GET / HTTP/1.1", b"LOUD?"] {
            assert_eq!(name(protocols.recognize(other)), None);
        }
    }
}
