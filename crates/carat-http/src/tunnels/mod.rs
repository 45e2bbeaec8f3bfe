//! Connections that an application has taken over.

mod application;
mod tunnel;
mod tunnel_client;

pub(crate) use application::Application;
pub(crate) use tunnel::{TunnelEnd, TunnelEnds, serve_tunnel};
pub(crate) use tunnel_client::TunnelClient;
