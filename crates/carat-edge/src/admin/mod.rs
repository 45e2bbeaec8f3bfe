//! The control socket: what the people who run the server may ask it, over HTTP on a Unix socket.
//!
//! ```sh
//! curl --unix-socket /var/tmp/carat-4242.sock http://carat/memory
//! ```

mod door;
mod edge_stats;
mod litter;
mod memory;
mod report;
mod route;
mod serve;

pub(crate) use serve::administer;
