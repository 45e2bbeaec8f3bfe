use std::mem::{replace, take};

use super::masked_frame::{BINARY, CLOSE, CONTINUATION, MaskedFrame, PING, PONG, TEXT};
use super::{CloseCode, DeflateWindow, WebSocketEvent};

/// Reads the frames of a client (RFC 6455, section 5). It joins the fragments of a message, and
/// returns control frames that are sent between them at once.
///
/// The reader holds what has arrived of a message, never what a header announces, and owns no memory between two
/// messages.
///
/// ```
/// use carat_cable::{CloseCode, FrameReader, WebSocketEvent};
///
/// let mut reader = FrameReader::new(5);
/// let mut arriving: &[u8] = b"\x81\x85\x01\x02\x03\x04igohn\x81\x86\0\0\0\0";
/// assert_eq!(reader.read(&mut arriving), Ok(Some(WebSocketEvent::Text("hello".into()))));
/// assert_eq!(reader.read(&mut arriving), Err(CloseCode::MESSAGE_TOO_BIG));
/// // After an error, further bytes are ignored.
/// assert_eq!(reader.read(&mut b"more".as_slice()), Ok(None));
/// assert_eq!(reader.held_bytes(), 0);
/// ```
#[derive(Debug)]
pub struct FrameReader {
    /// The message as far as it has arrived, and behind it a control frame.
    held: Vec<u8>,
    frame: MaskedFrame,
    /// The most bytes of a message.
    message_limit: u32,
    /// Bytes of the message in `held`.
    message_bytes: u32,
    message: MessageState,
    /// Whether the message that has begun is compressed.
    is_deflated: bool,
    /// The compression that was negotiated; `None` if no message may be compressed.
    deflate: Option<DeflateWindow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageState {
    None,
    /// A fragment has arrived, and not the last one.
    Begun,
    /// The client has closed, or made a mistake: nothing more is read.
    Ended,
}

impl FrameReader {
    /// A reader of messages of at most `message_limit` bytes.
    pub fn new(message_limit: u32) -> FrameReader {
        FrameReader {
            held: Vec::new(),
            frame: MaskedFrame::NEW,
            // `MaskedFrame::remaining` is `u32::MAX` for all longer payloads, which must be over
            // the limit.
            message_limit: message_limit.min(u32::MAX - 1),
            message_bytes: 0,
            message: MessageState::None,
            is_deflated: false,
            deflate: None,
        }
    }

    /// Makes the reader accept compressed messages if compression was negotiated with the client.
    #[must_use]
    pub fn with_deflate(self, deflate: Option<DeflateWindow>) -> FrameReader {
        FrameReader { deflate, ..self }
    }

    /// The compression that has been negotiated.
    pub fn deflate(&self) -> Option<DeflateWindow> {
        self.deflate
    }

    /// Takes bytes from the front, up to the end of the next event. Returns `None` when all bytes
    /// are taken and no event is complete. An error is the code with which to close the socket.
    /// After an error or [`WebSocketEvent::Close`], all further bytes are discarded.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Result<Option<WebSocketEvent>, CloseCode> {
        if self.message == MessageState::Ended {
            *bytes = &[];
            return Ok(None);
        }
        let read = self.advance(bytes);
        if matches!(read, Err(_) | Ok(Some(WebSocketEvent::Close(_)))) {
            self.end();
        }
        read
    }

    /// Bytes of memory that a message or a control frame takes until it is complete.
    pub fn held_bytes(&self) -> usize {
        self.held.capacity()
    }

    /// Whether a message or a frame has begun and is not complete.
    pub fn is_unfinished(&self) -> bool {
        self.message == MessageState::Begun
            || self.message != MessageState::Ended && self.frame.has_begun()
    }

    /// Ends the reader: it discards all further bytes, and holds nothing.
    pub fn end(&mut self) {
        self.message = MessageState::Ended;
        self.held = Vec::new();
    }

    fn advance(&mut self, bytes: &mut &[u8]) -> Result<Option<WebSocketEvent>, CloseCode> {
        while let Some((first, rest)) = bytes.split_first() {
            if self.frame.is_complete() {
                self.push_payload(bytes);
            } else {
                self.frame.push(*first)?;
                *bytes = rest;
                if self.frame.knows_more() {
                    self.check_header()?;
                }
            }
            if self.frame.is_complete() && self.frame.remaining == 0 {
                if let Some(event) = self.finish_frame()? {
                    return Ok(Some(event));
                }
            }
        }
        Ok(None)
    }

    /// Refuses a frame that is not allowed or too long before any of its payload is held.
    fn check_header(&mut self) -> Result<(), CloseCode> {
        let begins = matches!(self.frame.opcode(), TEXT | BINARY);
        if self.frame.is_deflated() && !(begins && self.deflate.is_some()) {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        if self.frame.is_control() {
            return Ok(());
        }
        let continues = self.frame.opcode() == CONTINUATION;
        if continues != (self.message == MessageState::Begun) {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        let most = self.message_limit - self.message_bytes;
        if self.frame.remaining > most {
            return Err(CloseCode::MESSAGE_TOO_BIG);
        }
        if begins {
            self.is_deflated = self.frame.is_deflated();
        }
        Ok(())
    }

    /// Takes the part of the payload that has arrived.
    fn push_payload(&mut self, bytes: &mut &[u8]) {
        let remaining = self.frame.remaining as usize;
        let (payload, rest) = bytes.split_at(remaining.min(bytes.len()));
        *bytes = rest;
        let start = self.held.len();
        if self.held.capacity() < start + payload.len() {
            // The memory is doubled, so that bytes are seldom moved, but it never exceeds what may
            // still come.
            let most = if self.frame.is_final() {
                remaining
            } else {
                (self.message_limit as usize).saturating_sub(start)
            };
            self.held.reserve_exact(start.min(most).max(payload.len()));
        }
        self.held.extend_from_slice(payload);
        self.frame.unmask(&mut self.held[start..]);
    }

    fn finish_frame(&mut self) -> Result<Option<WebSocketEvent>, CloseCode> {
        let frame = replace(&mut self.frame, MaskedFrame::NEW);
        match frame.opcode() {
            PING => Ok(Some(WebSocketEvent::Ping(self.take_control()))),
            PONG => {
                self.take_control();
                Ok(Some(WebSocketEvent::Pong))
            }
            CLOSE => close_event(&self.take_control()).map(Some),
            _ if frame.is_final() => {
                self.message = MessageState::None;
                self.message_bytes = 0;
                let message = take(&mut self.held);
                if self.is_deflated {
                    return Ok(Some(WebSocketEvent::Deflated(message)));
                }
                let text = String::from_utf8(message);
                let text = text.map_err(|_| CloseCode::INVALID_PAYLOAD)?;
                Ok(Some(WebSocketEvent::Text(text)))
            }
            _ => {
                self.message = MessageState::Begun;
                self.message_bytes = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
                Ok(None)
            }
        }
    }

    /// The payload of a control frame, which is behind the message in `held`.
    fn take_control(&mut self) -> Vec<u8> {
        if self.message_bytes == 0 {
            return take(&mut self.held);
        }
        let start = self.message_bytes as usize;
        let payload = self.held[start..].to_vec();
        self.held.truncate(start);
        payload
    }
}

fn close_event(payload: &[u8]) -> Result<WebSocketEvent, CloseCode> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return match payload {
            [] => Ok(WebSocketEvent::Close(None)),
            _ => Err(CloseCode::PROTOCOL_ERROR),
        };
    };
    let code = CloseCode::received(u16::from_be_bytes(*code)).ok_or(CloseCode::PROTOCOL_ERROR)?;
    std::str::from_utf8(reason).map_err(|_| CloseCode::INVALID_PAYLOAD)?;
    Ok(WebSocketEvent::Close(Some(code)))
}
