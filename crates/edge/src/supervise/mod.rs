//! The Ruby processes: who runs, who comes next, and who has to go.

mod backoff;
mod channel;
mod event;
mod fork;
mod mold;
mod molds;
mod ready;
mod reap;
mod roster;
mod shutdown;
mod signals;
mod supervisor;
mod workers;

pub(crate) use event::{Event, Events};
pub(crate) use ready::Ready;
pub(crate) use reap::reap;
pub(crate) use shutdown::Ending;
pub(crate) use signals::Signals;
pub(crate) use supervisor::{Fatal, Supervisor};
