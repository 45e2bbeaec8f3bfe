//! The frames that travel on a lane.

mod decode;
mod early_hints;
mod encode;
mod failure_page;
mod frame_socket;

pub(crate) use decode::reply_response;
pub(crate) use early_hints::{HintAllowance, hint_fields};
pub(crate) use encode::encode;
pub use failure_page::FailurePage;
pub use frame_socket::{FrameSocket, FrameTransport};
