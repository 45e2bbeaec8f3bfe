//! The sockets of a server that another one takes over from: what the two say to each other.

mod away_record;
mod edge_message;
mod socket_record;

pub use away_record::AwayRecord;
pub use edge_message::EdgeMessage;
pub use socket_record::{ClientRecord, SocketRecord};

/// Of what two servers say to each other. Sockets pass only between those that have the same one.
pub const HANDOVER_VERSION: u32 = 3;
