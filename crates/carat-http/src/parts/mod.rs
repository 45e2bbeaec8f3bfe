//! The contract between the core and its optional capabilities, the parts.

mod edge_core;
mod lends;
mod part;
mod part_list;
mod part_sample;

pub use edge_core::EdgeCore;
pub use lends::Lends;
pub use part::{AdminDoor, AdminResponse, Part, PartStep, PartTask, ReplyStep, SlowReply};
pub use part_list::PartList;
pub use part_sample::{PartSample, SampleValue};
