//! The texts of `actioncable-v1-json`, as Rails encodes and understands them, and those that `actioncable-v1-ext-json` adds.

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
pub use texts::{confirm_subscription, disconnect, message, ping, reject_subscription, welcome};
