//! The contract between the core and its optional capabilities, the parts.

mod admin_reply;
mod edge_core;
mod edge_event;
mod lends;
mod part;
mod part_list;
mod part_sample;
mod protocol;
mod protocol_core;
mod server_life;
mod time_histogram;

pub use admin_reply::{admin_refusal, admin_response};
pub use edge_core::EdgeCore;
pub use edge_event::EdgeEvent;
pub use lends::Lends;
pub use part::{
    AdminDoor, AdminResponse, Farewell, OtherParts, Part, PartStep, PartTask, ReplyStep, SlowBody,
    SlowReply,
};
pub use part_list::PartList;
pub use part_sample::{PartSample, SampleValue};
pub(crate) use protocol::Protocols;
pub use protocol::{EndedConnection, Protocol, ProtocolConnection, ProtocolEnd, ServingProtocol};
pub use protocol_core::{ProtocolCore, ServedRequest};
pub(crate) use server_life::Flag;
pub use server_life::ServerLife;
pub use time_histogram::TimeHistogram;
