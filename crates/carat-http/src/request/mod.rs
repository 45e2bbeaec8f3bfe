//! The values that the steps of a request work with, and the steps that need nothing else.

mod access;
mod connection_end;
mod finished_request;
mod representation;
mod request_context;
mod request_dispatch;
mod request_slots;
mod request_step;
mod takeover;
mod tracked_body;
mod uploads;

pub use access::{AccessEntry, AccessLog};
pub(crate) use connection_end::{ConnectionEnd, asks_to_close, delimit};
pub use finished_request::{FinishedRequest, RequestObserver};
pub(crate) use representation::cut;
pub use request_context::RequestContext;
pub use request_dispatch::RequestDispatch;
pub use request_slots::RequestSlots;
pub(crate) use request_step::check_prefix;
pub use request_step::{
    ArrivedRequest, Later, ReplySearch, RequestAnswer, RequestStep, WaitingRequest,
};
pub(crate) use takeover::{Takeovers, head_of_http1};
pub use tracked_body::TrackedBody;
pub(crate) use uploads::take_body;
