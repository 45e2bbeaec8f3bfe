//! The control socket: commands and the state of the server for operators, over HTTP on a Unix socket.
//!
//! ```sh
//! curl --unix-socket /run/carat/carat-4242.sock http://carat/memory
//! ```

pub(crate) mod clients;
mod control_directory;
mod control_listener;
mod edge_stats;
mod memory;
pub(crate) mod reply;
mod report;
mod route;
mod serve;
mod socket_name;
mod stale_sockets;

#[allow(unused_imports, reason = "a build without parts needs them only here")]
pub(crate) use reply::{outcome, refusal, response};
pub(crate) use serve::administer;
