//! The server's side of RFC 6455, with the extension of RFC 7692.

mod accept_key;
mod close_code;
mod deflate_window;
mod event;
mod frame_reader;
mod frames;
mod masked_frame;
mod message_coder;
#[cfg(test)]
mod tests;

pub use accept_key::accept_key;
pub use close_code::CloseCode;
pub use deflate_window::DeflateWindow;
pub use event::WebSocketEvent;
pub use frame_reader::FrameReader;
pub use frames::{close_frame, ping_frame, pong_frame, text_frame};
pub use message_coder::{DEFLATE_LIMIT, MessageCoder};
