//! The server's side of RFC 6455, without extensions.

mod accept_key;
mod close_code;
mod event;
mod frame_reader;
mod frames;
mod masked_frame;
#[cfg(test)]
mod tests;

pub use accept_key::accept_key;
pub use close_code::CloseCode;
pub use event::WebSocketEvent;
pub use frame_reader::FrameReader;
pub use frames::{close_frame, ping_frame, pong_frame, text_frame};
