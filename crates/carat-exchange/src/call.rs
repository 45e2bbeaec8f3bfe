use std::rc::Rc;
use std::time::Duration;

use carat_wire::Scheme;
use http::Method;
use http::request::Parts;

use crate::body::{BodyStream, InlineBytes, Spool};
use crate::client::{ForwardedClient, Peer};
use crate::memory::MemoryAccount;
use crate::response::HintSink;

/// A request as the application sees it. It is kept until the response, because it may have to be sent twice.
#[derive(Debug)]
pub struct Call {
    /// The request line and the header fields.
    pub parts: Parts,
    /// The client.
    pub peer: Rc<Peer>,
    /// The client as the peer names it, if the peer is a trusted proxy.
    pub forwarded: Option<Box<ForwardedClient>>,
    /// The body, or the stream that brings it.
    pub body: CallBody,
    /// The account of the memory that the client holds.
    pub memory: Rc<MemoryAccount>,
    /// The files that were taken out of the body; `None` for a file that was put back.
    pub files: Vec<Option<Spool>>,
    /// Whether the request comes from a part, in the name of the client.
    pub is_from_part: bool,
    /// When the request began to wait for a worker, as time since 1970; set if the application gets it
    /// (`X-Request-Start`).
    pub waits_since: Option<Duration>,
    /// How many milliseconds the body took to arrive before the request began to wait; 0 without a body.
    pub body_wait_ms: u32,
    /// The sink of early hints; `None` for a client that does not understand them.
    pub hints: Option<Rc<dyn HintSink>>,
}

/// The body of a received request.
#[derive(Debug)]
pub enum CallBody {
    /// No body, or an empty one.
    None,
    /// The body is in memory.
    Inline(InlineBytes),
    /// The body is in an unlinked file.
    Spooled(Spool),
    /// The body is forwarded while it arrives.
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

    /// The scheme by which the client reached the first server, such as a proxy.
    pub fn scheme(&self) -> Scheme {
        let client = self.forwarded.as_ref();
        let scheme = client.and_then(|client| client.scheme);
        scheme.unwrap_or(self.peer.scheme)
    }

    /// Whether the request may be repeated after the application has begun it: its method is safe (RFC 9110 9.2.1; RFC
    /// 10008 for QUERY), and no byte of a streamed body is gone.
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

    /// Discards the unread rest of the body, because the request is over. Must be called before the reply is passed on,
    /// because hyper then decides whether to keep the connection.
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
