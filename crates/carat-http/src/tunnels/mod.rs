//! Connections that an application has taken over: bytes between it and a client, whatever protocol brought them there.

mod application;
mod direction;
mod relay;
mod tunnel;
mod tunnel_client;

pub use application::Application;
pub(crate) use direction::TUNNEL_BUFFER_LIMIT;
pub(crate) use relay::{Relay, RelayEnd};
pub use tunnel::{TunnelEnd, TunnelEnds, serve_tunnel};
pub use tunnel_client::TunnelClient;
