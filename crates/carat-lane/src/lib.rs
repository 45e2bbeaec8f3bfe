//! The worker's side of a lane, and of a control socket, without Ruby.
//!
//! A [`LaneSession`] takes requests from the edge and sends responses. It never blocks: in place of blocking, it
//! returns a [`Step`] that says what to wait for, and the caller waits in the way of its runtime.
//!
//! ```
//! use std::os::fd::AsFd;
//! use std::os::unix::net::UnixStream;
//! use std::time::Instant;
//!
//! use carat_lane::{LaneSession, Readiness, Step};
//!
//! let (socket, _edge) = UnixStream::pair()?;
//! let mut session = LaneSession::default();
//! let next = session.next(socket.as_fd(), Instant::now())?;
//! assert_eq!(next, Step::Wait(Readiness::Readable));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod control_session;
mod decimal;
mod env_key;
mod head_encoder;
mod link_error;
mod portion;
mod response;
mod step;

mod lane {
    //! The bytes that a lane has received and has yet to send, and the slots that wait for them.

    mod body_receiver;
    mod fairness;
    mod flush_policy;
    mod in_flight;
    mod response_stream;
    mod session;
    mod waiters;

    pub use body_receiver::{BodyReceiver, BodyStatus};
    pub use session::{Descriptors, LaneSession, Progress, TakenRequest};
    pub use waiters::{WaitFor, Waiters};
}

pub use control_session::{AppOrder, ControlMessage, ControlSession};
pub use decimal::{DIGITS, decimal};
pub use env_key::with_env_key;
pub use head_encoder::{HeadEncoder, InvalidHead, SWITCHING_PROTOCOLS};
pub use lane::{BodyReceiver, BodyStatus};
pub use lane::{Descriptors, LaneSession, Progress, TakenRequest};
pub use lane::{WaitFor, Waiters};
pub use link_error::LinkError;
pub use portion::{Cut, Portion};
pub use response::{BodyPieces, CurrentRequest, OutgoingBody, StreamEnd};
pub use step::{Readiness, Step};
