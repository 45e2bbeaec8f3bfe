//! The texts of `actioncable-v1-json`, as Rails encodes and understands them.

mod client_command;
mod payload;
mod texts;

pub use client_command::{ClientCommand, NotACommand};
pub use payload::Payload;
pub use texts::{confirm_subscription, disconnect, message, ping, reject_subscription, welcome};
