//! The state of a fiber scheduler: which fibers wait for what, and which may run. It runs none itself.
//!
//! Everything is generic over the [`Handle`] of a fiber, and over the [`Poller`] that asks the kernel for readiness. A
//! runtime enters waits in a [`SchedulerState`], reports readiness and time to it, and runs the fibers that it returns.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use carat_fibers::{NoPoller, WaitOutcome, SchedulerState, WaitRequest};
//!
//! let mut state = SchedulerState::<&str, NoPoller>::default();
//! let start = Instant::now();
//! let sleep = WaitRequest { limit: Some(Duration::from_secs(1)), ..WaitRequest::default() };
//! let wait_id = state.enter("fiber", &sleep, start)?;
//!
//! state.expire(start + Duration::from_secs(1));
//! state.begin_round();
//! assert_eq!(state.pop(), Some(("fiber", true)));
//! assert_eq!(state.leave(wait_id), Some(WaitOutcome::TimedOut));
//! # Ok::<(), std::convert::Infallible>(())
//! ```

#![forbid(unsafe_code)]

pub mod fiber_limit;
mod handle;
mod poller;
mod ready_queue;
mod run_clock;
mod selector;
mod state;
mod timeouts;
mod timers;
mod waits;

pub use handle::Handle;
pub use poller::{Armed, NoPoller, PRIORITY, Poller};
pub use run_clock::RunClock;
pub use selector::Selector;
pub use state::{SchedulerState, WaitRequest};
pub use timeouts::{Timeout, Timeouts};
pub use waits::{WaitId, WaitOutcome};
