//! Two edges, one after the other: the old one starts the new one, hands its listeners over, and finishes what its
//! clients began.
//!
//! They talk over a socket pair, in lines of JSON: [`OldEdgeMessage`](message::OldEdgeMessage) and
//! [`NewEdgeMessage`](message::NewEdgeMessage). Its end tells each that the other one is gone.

mod container;
mod hand_over_state;
mod message;
mod predecessor;
mod socket;
mod successor;

/// Tells the launcher of the new edge how many sockets a service manager passed to the old one.
pub(super) const SOCKETS_VARIABLE: &str = "CARAT_UPGRADE_SOCKETS";

pub(super) use container::container_obstacle;
pub(crate) use hand_over_state::HandOverState;
pub(crate) use predecessor::Predecessor;
pub(crate) use successor::Successor;
