//! The upgrade from one edge to the next, as in nginx: the old edge starts the new one with its listeners, and stops
//! accepting clients when the new one is ready.
//!
//! Between the two is a socket pair. The new edge writes one line: that it is ready, or why it cannot be. It closes its
//! direction when it has taken over the files. The old edge writes nothing, and closes the socket when its further
//! processes have ended. If the socket ends earlier, the other edge is gone.

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

/// What the old edge leaves to the new one, as JSON in an environment variable. The launcher reads the descriptors from
/// it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Inheritance {
    /// The descriptor of the socket between the two edges.
    socket: i32,
    /// The places and the descriptors of the listeners.
    listeners: Vec<(String, i32)>,
    pub(crate) pid_file: Option<PathBuf>,
    pub(crate) control_socket: Option<PathBuf>,
}
