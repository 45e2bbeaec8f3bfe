use std::rc::Rc;
use std::time::Duration;

use carat_wire::Scheme;
use http::Method;
use http::request::Parts;

use crate::body::{BodyStream, InlineBytes, Spool};
use crate::client::{ForwardedClient, Peer};
use crate::memory::MemoryAccount;
use crate::response::HintSink;

/// A request as the application sees it, kept until the response: it may have to be sent twice.
#[derive(Debug)]
pub struct Call {
    /// The request line and the header fields.
    pub parts: Parts,
    /// The client.
    pub peer: Rc<Peer>,
    /// The client, when the peer is a proxy that says who it is.
    pub forwarded: Option<Box<ForwardedClient>>,
    /// The body, or the stream that brings it.
    pub body: CallBody,
    /// The account of the memory that the client holds.
    pub memory: Rc<MemoryAccount>,
    /// The files that were taken out of the body; `None` for one that was put back.
    pub files: Vec<Option<Spool>>,
    /// Whether the request comes from a part, in the name of the client.
    pub is_from_part: bool,
    /// When the request began to wait for a worker, as time since 1970; set if the application gets it
    /// (`X-Request-Start`).
    pub waits_since: Option<Duration>,
    /// How many milliseconds the body took to arrive before the request began to wait; 0 without a body.
    pub body_wait_ms: u32,
    /// Where early hints go; `None` for a client that understands none.
    pub hints: Option<Rc<dyn HintSink>>,
}

/// The body of a received request.
#[derive(Debug)]
pub enum CallBody {
    /// No body, or an empty one.
    None,
    /// In memory.
    Inline(InlineBytes),
    /// In an unlinked file.
    Spooled(Spool),
    /// Forwarded while it arrives.
    Stream(Rc<BodyStream>),
}

impl Call {
    /// A request without a body.
    pub fn new(parts: Parts, peer: Rc<Peer>, memory: Rc<MemoryAccount>) -> Call {
        Call {
            parts,
            peer,
            forwarded: None,
            body: CallBody::None,
            memory,
            files: Vec::new(),
            is_from_part: false,
            waits_since: None,
            body_wait_ms: 0,
            hints: None,
        }
    }

    /// The client's address as text.
    pub fn remote(&self) -> &str {
        let client = self.forwarded.as_ref();
        let remote = client.and_then(|client| client.remote.as_deref());
        remote.unwrap_or(&self.peer.remote)
    }

    /// The client for the access log: as a trusted proxy names it, or the peer itself.
    pub fn logged(&self) -> &str {
        let client = self.forwarded.as_ref();
        let remote = client.and_then(|client| client.remote.as_deref());
        remote.unwrap_or_else(|| self.peer.logged())
    }

    /// How the client reached the first server.
    pub fn scheme(&self) -> Scheme {
        let client = self.forwarded.as_ref();
        let scheme = client.and_then(|client| client.scheme);
        scheme.unwrap_or(self.peer.scheme)
    }

    /// Whether the request may be repeated after the application began it (RFC 9110 9.2.1, RFC 10008 for QUERY) and no
    /// byte of its body is gone.
    pub fn may_repeat(&self) -> bool {
        let method = &self.parts.method;
        let is_safe = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
            || method.as_str() == "QUERY";
        is_safe && self.body_stream().is_none_or(|stream| !stream.has_begun())
    }

    /// The body, when it is forwarded while it arrives.
    pub fn body_stream(&self) -> Option<&Rc<BodyStream>> {
        match &self.body {
            CallBody::Stream(stream) => Some(stream),
            CallBody::None | CallBody::Inline(_) | CallBody::Spooled(_) => None,
        }
    }

    /// Drops the unread rest of the body: the request is over. Must be called before the reply is
    /// passed on, because hyper then decides whether to keep the connection.
    pub fn discard_body(&self) {
        if let Some(stream) = self.body_stream() {
            stream.close();
        }
    }

    /// Bytes of the body as the application gets it; `None` while it is unknown.
    pub fn body_length(&self) -> Option<u64> {
        match &self.body {
            CallBody::None => Some(0),
            CallBody::Inline(body) => Some(body.bytes().len() as u64),
            CallBody::Spooled(spool) => Some(spool.length()),
            CallBody::Stream(stream) => stream.length(),
        }
    }
}

#[cfg(any(test, feature = "fixture"))]
impl Call {
    /// A call without headers or a body.
    pub fn plain(method: &str, path: &str) -> Call {
        let request = http::Request::builder().method(method).uri(path).body(());
        let (parts, ()) = request.expect("a valid request").into_parts();
        let peer = Peer::new("127.0.0.1".to_owned(), false, 80, None);
        let memory = super::ClientMemory::new(u64::MAX);
        Call::new(parts, Rc::new(peer), memory.account())
    }
}
