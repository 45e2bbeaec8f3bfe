//! The Ruby processes: who runs, who comes next, and who has to go.

mod backoff;
mod boot_errors;
mod census;
mod channel;
mod elastic;
mod event;
mod fork;
mod memory;
mod mold;
mod molds;
mod promotion;
mod ready;
mod reap;
mod recycle;
mod refork;
mod retiring;
mod roster;
mod shutdown;
mod signals;
mod stuck;
mod succession;
mod supervisor;
mod weighing;
mod workers;

pub(crate) use census::{Allowance, Process, Role, Survey};
pub(crate) use event::{Event, Events};
pub(crate) use memory::Rollup;
pub(crate) use ready::Ready;
pub(crate) use reap::reap;
pub(crate) use shutdown::Ending;
pub(crate) use signals::Signals;
pub(crate) use supervisor::{Fatal, Supervisor};
