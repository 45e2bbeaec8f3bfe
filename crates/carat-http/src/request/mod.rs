//! The values with which a step of a request works, and the steps that need nothing else.

mod access;
mod body_piece;
mod connection_end;
mod prefix;
mod representation;
mod request_context;
mod request_dispatch;
mod request_step;
mod takeover;
mod tracked_body;
mod uploads;

pub(crate) use access::{AccessEntry, AccessLog};
pub(crate) use connection_end::{ConnectionEnd, asks_to_close, delimit};
pub(crate) use prefix::check_prefix;
pub(crate) use representation::{cut, encode};
pub(crate) use request_context::{CableHandshake, RequestContext};
pub(crate) use request_dispatch::RequestDispatch;
pub(crate) use request_step::{ArrivedRequest, Later, RequestAnswer, RequestStep};
pub(crate) use takeover::{Takeovers, head_of_http1};
pub(crate) use tracked_body::TrackedBody;
pub(crate) use uploads::take_body;
