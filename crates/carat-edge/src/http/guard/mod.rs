//! Reads the raw bytes of a connection before hyper does, refuses what hyper would let through, and
//! follows the framing.
//!
//! hyper 1 accepts bare LF line ends, a missing or doubled Host, and Content-Length beside
//! Transfer-Encoding: each is a way to make two servers see two different requests in the same
//! bytes. The guard follows the same messages with stricter rules (RFC 9112), copies nothing and
//! allocates nothing:
//!
//! ```text
//! let mut guard = Guard::new(limits);
//! let n = guard.pass(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /")?; // 27: one message at a time
//! let n = guard.pass(b"GET /")?; // 0: offer them again, with more behind them
//! guard.position(); // Position::InHead
//! ```

mod authority;
mod byte_class;
mod chunked;
mod fields;
mod framing;
mod head;
mod refusal;
mod request_line;
#[cfg(test)]
mod tests;

pub(crate) use chunked::{Chunked, Event};
pub(crate) use refusal::Refusal;

use framing::Body;
use head::Head;

/// Bounds of a head, and of the trailers of a chunked body.
#[expect(clippy::struct_field_names, reason = "named as the options are")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeadLimits {
    /// Bytes from the first of the request line to the last of the blank line: 431.
    pub(crate) max_header_bytes: usize,
    /// Header fields: 431.
    pub(crate) max_headers: usize,
    /// Bytes of the request target: 414.
    pub(crate) max_uri: usize,
}

/// Where the connection stands in the stream of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// Nothing of the next message was seen; blank lines are nothing.
    BetweenMessages,
    /// A head has begun and is not complete, or was refused.
    InHead,
    /// The head was passed, the last byte of the body was not.
    InBody,
}

/// What the next byte belongs to.
enum Stage {
    Head(Head),
    Length(u64),
    Chunked(Chunked),
}

/// Follows the messages of one connection.
pub(crate) struct Guard {
    limits: HeadLimits,
    stage: Stage,
    refusal: Option<Refusal>,
}

impl Guard {
    /// A guard before the first message.
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            limits,
            stage: Stage::Head(Head::new()),
            refusal: None,
        }
    }

    /// How many leading bytes of `bytes` may be handed on now.
    ///
    /// `bytes` begins with the first byte that was not handed on: of an incomplete head none is,
    /// and it is offered again with more behind it; its bytes never exceed `max_header_bytes`. At
    /// most one head or one body is passed at a time. A refusal is final: the same one answers
    /// every further call.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let passed = match &mut self.stage {
            _ if bytes.is_empty() => return Ok(0),
            Stage::Head(head) => pass_head(head, bytes, &self.limits),
            Stage::Length(left) => Ok(pass_length(left, bytes)),
            Stage::Chunked(body) => pass_chunked(body, bytes),
        };
        let (length, next) = passed.inspect_err(|&refusal| self.refusal = Some(refusal))?;
        if let Some(stage) = next {
            self.stage = stage;
        }
        Ok(length)
    }

    /// Where the connection stands after the bytes that were passed and those that were only seen.
    pub(crate) fn position(&self) -> Position {
        match &self.stage {
            Stage::Head(head) if head.is_blank() && self.refusal.is_none() => {
                Position::BetweenMessages
            }
            Stage::Head(_) => Position::InHead,
            Stage::Length(_) | Stage::Chunked(_) => Position::InBody,
        }
    }

    /// How many leading bytes of what `pass` has just answered 0 for are blank lines between two
    /// messages (RFC 9112, section 2.2): the caller drops them and offers only what follows. Who
    /// does not ask sees them passed as part of the next head.
    pub(crate) fn take_blank_lines(&mut self) -> usize {
        match &mut self.stage {
            Stage::Head(head) => head.take_blank_lines(),
            Stage::Length(_) | Stage::Chunked(_) => 0,
        }
    }
}

/// How many bytes are passed, and the stage behind them if it is another.
type Passed = (usize, Option<Stage>);

fn pass_head(head: &mut Head, bytes: &[u8], limits: &HeadLimits) -> Result<Passed, Refusal> {
    let Some((length, body)) = head.scan(bytes, limits)? else {
        return Ok((0, None));
    };
    let next = match body {
        Body::Length(0) => Stage::Head(Head::new()),
        Body::Length(length) => Stage::Length(length),
        Body::Chunked => Stage::Chunked(Chunked::new(limits)),
    };
    Ok((length, Some(next)))
}

fn pass_length(left: &mut u64, bytes: &[u8]) -> Passed {
    // More than a usize holds is more than there is.
    let length = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
    *left -= length as u64;
    (length, (*left == 0).then(|| Stage::Head(Head::new())))
}

fn pass_chunked(body: &mut Chunked, bytes: &[u8]) -> Result<Passed, Refusal> {
    for event in body.events(bytes) {
        match event? {
            Event::Data(data) => debug_assert!(data.end <= bytes.len(), "data within the piece"),
            Event::End(length) => return Ok((length, Some(Stage::Head(Head::new())))),
        }
    }
    Ok((bytes.len(), None))
}
