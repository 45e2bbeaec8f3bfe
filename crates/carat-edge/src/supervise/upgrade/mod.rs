//! Two edges, one after the other, as with nginx: the old one starts the new one with its listeners, and stops accepting
//! clients when that one is ready.
//!
//! Between them is a socket pair. The new edge writes a line: that it is ready, or why it cannot be. It closes its
//! direction when its files are in place. The old edge writes nothing, and closes the socket when its further processes of
//! the application have ended. Its end before tells each that the other one is gone.

mod edge_handover;
mod predecessor;
mod successor;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(super) use edge_handover::EdgeHandover;
pub(crate) use predecessor::{Predecessor, inherit_listeners};
pub(crate) use successor::Successor;
pub(super) use successor::container_obstacle;

/// The line that the new edge writes when it accepts clients.
const READY: &str = "ready";

/// The inheritance that the old edge leaves to the new one, in an environment variable. The launcher reads the
/// descriptors.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Inheritance {
    /// The socket between the two.
    socket: i32,
    /// The places and the descriptors of the listeners.
    listeners: Vec<(String, i32)>,
    pub(crate) pid_file: Option<PathBuf>,
    pub(crate) control_socket: Option<PathBuf>,
}
