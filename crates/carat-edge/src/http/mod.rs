//! Client connections over HTTP/1.1: listeners, TLS handshakes, the guard in front of hyper, timeouts, access log.

mod accept;
mod access;
mod active_connections;
mod address;
mod address_parameters;
mod binding;
mod connection;
mod deadlines;
mod disk_lookups;
mod force_tls;
mod guarded;
mod handshake;
mod handshakes;
mod http1;
mod listener;
mod listeners;
mod phase_timeouts;
mod proxy_header;
mod request_start;
mod seats;
mod send_files;
mod serve;
mod server;
mod site_files;
mod slow_reader;
mod static_files;
mod stream;
mod tracked_body;

pub(crate) use accept::accept;
pub(crate) use binding::bind_all;
pub(crate) use deadlines::TICK;
pub(crate) use listener::Listener;
pub(crate) use listeners::Listeners;
pub(crate) use server::Server;
pub(crate) use site_files::SiteFiles;
