use crate::error::GuardError;
use crate::header_limits::HeaderLimits;
use crate::http1::chunked::{Chunked, ChunkedEvent};
use crate::http1::framing::BodyFraming;
use crate::http1::head::MessageHead;

/// The part of a message that the next byte belongs to.
enum GuardState {
    Head(MessageHead),
    Length(u64),
    Chunked(Chunked),
}

/// The position of a connection in its stream of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePosition {
    /// No byte of the next message has arrived, blank lines aside.
    BetweenMessages,
    /// The request line or the headers are incomplete, or were refused.
    InHeaders,
    /// The headers were passed, the last byte of the body was not.
    InBody,
}

/// Follows the messages of one connection.
pub struct Guard {
    limits: HeaderLimits,
    state: GuardState,
    refusal: Option<GuardError>,
    higher_minor: Option<usize>,
}

impl Guard {
    /// Creates a guard for a new connection.
    pub fn new(limits: HeaderLimits) -> Self {
        Self {
            limits,
            state: GuardState::Head(MessageHead::new()),
            refusal: None,
            higher_minor: None,
        }
    }

    /// Returns how many leading bytes of `bytes` the parser may have now.
    ///
    /// `bytes` begins with the first byte that was not passed before. Incomplete headers are not
    /// passed at all: offer them again with more bytes after them, at most `max_header_bytes` in
    /// total. One call passes the headers or the body of one message at most. An error is final:
    /// every further call returns the same one.
    pub fn pass(&mut self, bytes: &[u8]) -> Result<usize, GuardError> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let passed = match &mut self.state {
            _ if bytes.is_empty() => return Ok(0),
            GuardState::Head(head) => {
                let passed = pass_head(head, bytes, &self.limits);
                let is_complete = matches!(passed, Ok((1.., _)));
                self.higher_minor = head.higher_minor(bytes).filter(|_| is_complete);
                passed
            }
            GuardState::Length(left) => Ok(pass_length(left, bytes)),
            GuardState::Chunked(body) => pass_chunked(body, bytes),
        };
        let (length, next) = passed.inspect_err(|&refusal| self.refusal = Some(refusal))?;
        if let Some(state) = next {
            self.state = state;
        }
        Ok(length)
    }

    /// Where the connection is after every byte offered so far, passed or not.
    pub fn position(&self) -> MessagePosition {
        match &self.state {
            GuardState::Head(head) if head.is_blank() && self.refusal.is_none() => {
                MessagePosition::BetweenMessages
            }
            GuardState::Head(_) => MessagePosition::InHeaders,
            GuardState::Length(_) | GuardState::Chunked(_) => MessagePosition::InBody,
        }
    }

    /// After `pass` passed headers: the index of the minor version in these bytes, when it is higher
    /// than 1. Such a message is HTTP/1.1 to this server (RFC 9110, section 2.5), but a parser that
    /// knows only 1.0 and 1.1 must be given a `1` there.
    pub fn take_higher_minor(&mut self) -> Option<usize> {
        self.higher_minor.take()
    }

    /// After `pass` returned 0: how many leading bytes are blank lines between two messages (RFC
    /// 9112, section 2.2). The caller drops that many and offers only what follows. Without this
    /// call they are passed as part of the next message.
    pub fn take_blank_lines(&mut self) -> usize {
        match &mut self.state {
            GuardState::Head(head) => head.take_blank_lines(),
            GuardState::Length(_) | GuardState::Chunked(_) => 0,
        }
    }
}

/// The number of bytes passed, and the new state if it changed.
type Passed = (usize, Option<GuardState>);

fn pass_head(
    head: &mut MessageHead,
    bytes: &[u8],
    limits: &HeaderLimits,
) -> Result<Passed, GuardError> {
    let Some((length, body)) = head.scan(bytes, limits)? else {
        return Ok((0, None));
    };
    let next = match body {
        BodyFraming::Length(0) => GuardState::Head(MessageHead::new()),
        BodyFraming::Length(length) => GuardState::Length(length),
        BodyFraming::Chunked => GuardState::Chunked(Chunked::new(limits)),
    };
    Ok((length, Some(next)))
}

fn pass_length(left: &mut u64, bytes: &[u8]) -> Passed {
    // A length that exceeds usize also exceeds the bytes at hand.
    let length = usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
    *left -= length as u64;
    (
        length,
        (*left == 0).then(|| GuardState::Head(MessageHead::new())),
    )
}

fn pass_chunked(body: &mut Chunked, bytes: &[u8]) -> Result<Passed, GuardError> {
    for event in body.events(bytes) {
        match event? {
            ChunkedEvent::Data(data) => {
                debug_assert!(data.end <= bytes.len(), "data within the piece");
            }
            ChunkedEvent::End(length) => {
                return Ok((length, Some(GuardState::Head(MessageHead::new()))));
            }
        }
    }
    Ok((bytes.len(), None))
}
