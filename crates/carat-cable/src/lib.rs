//! Action Cable: the frames of a WebSocket (RFC 6455), the texts of the protocols `actioncable-v1-json` and
//! `actioncable-v1-ext-json`, and what the edge and the application tell each other about a client, all of it without
//! sockets, clock, and runtime. What needs these is in `part`, the part of the edge.
//!
//! ```
//! use carat_cable::{ClientCommand, FrameReader, WebSocketEvent, confirm_subscription, text_frame};
//!
//! let mut reader = FrameReader::new(65_536);
//! // What a client sends is masked; this mask changes nothing.
//! let text = br#"{"command":"subscribe","identifier":"{\"channel\":\"Chat\"}"}"#;
//! let sent = [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], &text[..]].concat();
//! let mut arriving = &sent[..];
//! let Ok(Some(WebSocketEvent::Text(text))) = reader.read(&mut arriving) else {
//!     panic!("a whole message");
//! };
//! let Ok(ClientCommand::Subscribe { identifier, .. }) = ClientCommand::parse(&text) else {
//!     panic!("a subscription");
//! };
//! let frame = text_frame(&confirm_subscription(&identifier));
//! assert!(frame.ends_with(br#""type":"confirm_subscription"}"#));
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "part")]
mod part;
mod protocol;
mod sockets;
mod websocket;
mod worker;

#[cfg(feature = "part")]
pub use part::{Cable, CablePart, CableSocket, part};
pub use protocol::{ClientCommand, HistoryPosition, HistoryRequest, NotACommand, Payload};
pub use protocol::{confirm_history, reject_history, welcome_session};
pub use protocol::{confirm_subscription, disconnect, message, ping, reject_subscription, welcome};
pub use sockets::{BroadcastHistory, Hub, OUTBOX_LIMIT, Reached, STREAM_HISTORY_LIMIT};
pub use sockets::{CableSession, ClientOutbox, SESSION_LIMIT, SocketEnd, SocketNumber};
pub use sockets::{ClientIdentity, KEPT_SESSIONS_LIMIT, KeptSession, KeptSessions, SessionClaim};
pub use sockets::{MESSAGE_LIMIT, SocketLimits};
pub use websocket::{CloseCode, DEFLATE_LIMIT, DeflateWindow, FrameReader, MessageCoder};
pub use websocket::{WebSocketEvent, accept_key};
pub use websocket::{close_frame, ping_frame, pong_frame, text_frame};
pub use worker::{BroadcastOrder, CommandBody, CommandClose, CommandResult};
pub use worker::{InvalidResult, SigningKey, StateChange, SubscriptionAnswer, SubscriptionRecord};
