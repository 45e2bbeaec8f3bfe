//! The messages between the edge and the application about a client, as JSON.

mod broadcast_order;
mod command_body;
mod command_result;

pub use broadcast_order::BroadcastOrder;
pub use command_body::{CommandBody, SubscriptionRecord};
pub(crate) use command_result::STREAM_NAME_LIMIT;
pub use command_result::{CommandClose, CommandResult, SigningKey};
pub use command_result::{InvalidResult, StateChange, SubscriptionAnswer};
