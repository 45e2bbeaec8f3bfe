//! Action Cable: the frames of a WebSocket (RFC 6455), the texts of the protocols
//! `actioncable-v1-json` and `actioncable-v1-ext-json`, and the messages between the edge and the
//! application about a client. All of this needs no socket, no clock, and no async runtime. The
//! code that needs them is in `part`, which makes Action Cable a part of the edge.
//!
//! ```
//! use carat_cable::{ClientCommand, FrameReader, WebSocketEvent, confirm_subscription, text_frame};
//!
//! let mut reader = FrameReader::new(65_536);
//! // Clients mask their frames; a mask of zeros changes no byte.
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

mod protocol {
    //! The texts of `actioncable-v1-json`, as Rails encodes and understands them, and the texts
    //! that `actioncable-v1-ext-json` adds.

    mod client_command;
    mod extended_texts;
    mod history_request;
    mod payload;
    mod texts;

    pub use client_command::{ClientCommand, NotACommand};
    pub(crate) use extended_texts::message_end;
    pub use extended_texts::{confirm_history, reject_history, welcome_session};
    pub use history_request::{HistoryPosition, HistoryRequest};
    pub use payload::Payload;
    pub(crate) use texts::message_start;
    pub use texts::{
        confirm_subscription, disconnect, message, ping, reject_subscription, welcome,
    };
}

mod sockets {
    //! The sockets of all clients: the outbox of each, its subscriptions, and which clients receive
    //! which stream.

    mod broadcast_history;
    mod cable_session;
    mod client_outbox;
    mod encoded_message;
    mod hub;
    mod kept_sessions;
    mod signed_streams;
    mod socket_limits;

    pub use broadcast_history::{BroadcastHistory, STREAM_HISTORY_LIMIT};
    pub use cable_session::{CableSession, KeptSession};
    pub use client_outbox::{ClientOutbox, SocketEnd, SocketNumber};
    pub use hub::{Hub, Reached};
    pub use kept_sessions::{AwaySession, ClientIdentity, KeptSessions, SessionClaim};
    pub use socket_limits::{
        KEPT_SESSIONS_LIMIT, MESSAGE_LIMIT, OUTBOX_LIMIT, SESSION_LIMIT, SocketLimits,
    };
}

mod websocket {
    //! The server's side of the WebSocket protocol (RFC 6455), with compression (RFC 7692).

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
}

mod worker {
    //! The messages between the edge and the application about a client, as JSON.

    mod broadcast_order;
    mod command_body;
    mod command_result;

    pub use broadcast_order::BroadcastOrder;
    pub use command_body::{CommandBody, SubscriptionRecord};
    pub(crate) use command_result::STREAM_NAME_LIMIT;
    pub use command_result::{CommandClose, CommandResult, SigningKey};
    pub use command_result::{InvalidResult, StateChange, SubscriptionAnswer};
}

#[cfg(feature = "part")]
pub use part::{Cable, CablePart, CableSocket, SocketClient, part};
pub use protocol::{ClientCommand, HistoryPosition, HistoryRequest, NotACommand, Payload};
pub use protocol::{confirm_history, reject_history, welcome_session};
pub use protocol::{confirm_subscription, disconnect, message, ping, reject_subscription, welcome};
pub use sockets::{AwaySession, ClientIdentity, KEPT_SESSIONS_LIMIT};
pub use sockets::{BroadcastHistory, Hub, OUTBOX_LIMIT, Reached, STREAM_HISTORY_LIMIT};
pub use sockets::{CableSession, ClientOutbox, SESSION_LIMIT, SocketEnd, SocketNumber};
pub use sockets::{KeptSession, KeptSessions, SessionClaim};
pub use sockets::{MESSAGE_LIMIT, SocketLimits};
pub use websocket::{CloseCode, DEFLATE_LIMIT, DeflateWindow, FrameReader, MessageCoder};
pub use websocket::{WebSocketEvent, accept_key};
pub use websocket::{close_frame, ping_frame, pong_frame, text_frame};
pub use worker::{BroadcastOrder, CommandBody, CommandClose, CommandResult};
pub use worker::{InvalidResult, SigningKey, StateChange, SubscriptionAnswer, SubscriptionRecord};
