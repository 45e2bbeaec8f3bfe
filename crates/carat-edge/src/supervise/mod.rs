//! The Ruby processes: [`State`](state::State) decides, the executor carries out.
//!
//! Whatever happens (a process is ready, a child exits, a tick, a signal) becomes an [`Event`](event::Event). The state
//! replies with [`Command`](command::Command)s. Both are plain data, so every sequence of events can be tested without a
//! process. A new feature is a new row of events and commands.

mod executor;
mod machine_limits;
mod messages;
mod orders;
mod processes;
mod reports;
mod signals_and_files;
mod supervisor;
mod upgrade;

pub(crate) use machine_limits::{client_memory_limit, descriptor_budget};
#[cfg(test)]
pub(crate) use messages::FreshSettings;
pub(crate) use messages::{
    ControlRequest, Mailbox, Message, ProcessStats, ProfileMessage, ProfileOrder, StatsMessage,
    StatsReport,
};
#[allow(unused_imports, reason = "a build without parts orders none")]
pub(crate) use messages::{OneOffMessage, OneOffOrder, OneOffReport};
#[cfg(test)]
pub(crate) use processes::Host;
pub(crate) use processes::{LocalHost, Ready, take_descriptor};
pub(crate) use signals_and_files::{Signals, reap, restart_path, watch_restart_file};
pub(crate) use supervisor::Supervisor;
#[cfg(test)]
pub(crate) use upgrade::Successor;
pub(crate) use upgrade::{Predecessor, inherit_listeners};
