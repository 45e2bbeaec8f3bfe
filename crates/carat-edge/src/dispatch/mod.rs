//! From a received request to the application's answer: one queue, and lanes to the workers.

mod answer;
mod call;
mod dispatcher;
mod encode;
mod exchange;
mod feed;
mod holding;
mod lane;
mod lane_event;
mod lane_state;
mod lane_tag;
mod losses;
mod pace;
mod page;
mod queue_time;
mod stall;
mod traffic;
mod usage;
mod worker_id;

pub(crate) use answer::Answer;
pub(crate) use call::{Call, CallBody};
pub(crate) use dispatcher::Dispatcher;
pub(crate) use exchange::Asking;
pub(crate) use feed::{Feed, Intake, Readers, feed};
pub(crate) use lane::Lane;
pub(crate) use lane_event::{LaneEvent, LaneEvents};
pub(crate) use lane_tag::LaneTag;
pub(crate) use traffic::carry;
pub(crate) use worker_id::WorkerId;
