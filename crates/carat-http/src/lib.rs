//! Client connections: listeners, TLS handshakes, the guard in front of hyper, HTTP/2, timeouts, access log.

mod accept;
mod cable;
mod cache;
mod connection_permits;
mod connections;
mod date_field;
mod failures;
mod h2;
mod handshake_thread;
mod handshakes;
mod http1;
mod http2;
mod request;
mod request_metrics;
mod server;
mod site;
mod sockets;
mod steps;
mod time_limits;
mod tunnels;

pub(crate) use accept::accept;
#[cfg(test)]
pub(crate) use cable::CableSocket;
pub(crate) use cable::{Cable, CableStats};
pub(crate) use cache::{CacheReport, ResponseCache};
pub(crate) use connections::follow_cable;
pub(crate) use request_metrics::{RequestMetrics, RequestTotals, TimeCounts};
pub(crate) use server::Server;
pub(crate) use site::SiteFiles;
pub(crate) use sockets::{HandedListener, Listener, Listeners, bind_all};
pub(crate) use time_limits::TICK;
