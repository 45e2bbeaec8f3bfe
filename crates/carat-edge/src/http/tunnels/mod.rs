//! Connections that an application has taken over.

mod tunnel;
mod tunnel_client;

pub(crate) use tunnel::{TunnelEnd, TunnelEnds, application_of, serve_tunnel};
pub(crate) use tunnel_client::TunnelClient;
