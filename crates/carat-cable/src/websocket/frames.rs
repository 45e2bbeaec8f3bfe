use super::CloseCode;
use super::masked_frame::{CLOSE, DEFLATED, FIN, PING, PONG, SHORT_PAYLOAD_LIMIT, TEXT};

/// A frame with a whole message.
///
/// ```
/// assert_eq!(carat_cable::text_frame("hello"), b"\x81\x05hello");
/// ```
pub fn text_frame(text: &str) -> Vec<u8> {
    frame(TEXT, text.as_bytes())
}

/// A frame with a whole message, compressed.
pub(super) fn deflated_frame(payload: &[u8]) -> Vec<u8> {
    frame(DEFLATED | TEXT, payload)
}

/// A ping with the first 125 bytes of the payload.
pub fn ping_frame(payload: &[u8]) -> Vec<u8> {
    frame(PING, control_payload(payload))
}

/// A pong, which answers a ping with the same payload.
pub fn pong_frame(payload: &[u8]) -> Vec<u8> {
    frame(PONG, control_payload(payload))
}

/// A close frame. Without a code, it has no reason, either. At most 123 bytes of the reason are
/// sent.
///
/// ```
/// use carat_cable::{CloseCode, close_frame};
///
/// assert_eq!(close_frame(Some(CloseCode::NORMAL), "bye"), b"\x88\x05\x03\xe8bye");
/// assert_eq!(close_frame(None, ""), b"\x88\0");
/// ```
pub fn close_frame(code: Option<CloseCode>, reason: &str) -> Vec<u8> {
    let Some(code) = code else {
        return frame(CLOSE, &[]);
    };
    let most = usize::from(SHORT_PAYLOAD_LIMIT) - 2;
    let end = (0..=most.min(reason.len())).rev();
    let end = end.into_iter().find(|end| reason.is_char_boundary(*end));
    let reason = &reason[..end.unwrap_or(0)];
    frame(
        CLOSE,
        &[&code.get().to_be_bytes(), reason.as_bytes()].concat(),
    )
}

fn control_payload(payload: &[u8]) -> &[u8] {
    &payload[..payload.len().min(SHORT_PAYLOAD_LIMIT.into())]
}

/// A frame as servers send it: not masked, and here always a whole message.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).to_be_bytes();
    let (short, long) = match payload.len() {
        0..=125 => (length[7], &length[8..]),
        126..=0xFFFF => (126, &length[6..]),
        _ => (127, &length[..]),
    };
    [&[FIN | opcode, short], long, payload].concat()
}
