//! Bytes between a client and an application that has taken over its connection, whatever protocol brought them there.

mod direction;
mod relay;

pub(crate) use direction::TUNNEL_BUFFER_LIMIT;
pub(crate) use relay::{Relay, RelayEnd};
