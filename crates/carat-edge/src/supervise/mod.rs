//! The Ruby processes: [`State`](state::State) decides, the executor carries out.
//!
//! Whatever happens (a process is ready, a child exits, a tick, a signal) becomes an [`Event`](event::Event). The state
//! replies with [`Command`](command::Command)s. Both are plain data, so every sequence of events can be tested without a
//! process. A new feature is a new row of events and commands.

mod canary_hold;
mod channel;
mod client_memory;
mod control;
mod control_request;
mod executor;
mod generations;
mod hand_over;
mod host;
mod local_host;
mod mailbox;
mod memory;
mod open_files;
mod predecessor_message;
mod profile_order;
mod profiles;
mod ready;
mod reaper;
mod restart_file;
mod server_status;
mod service_manager;
mod settings_reader;
mod signals;
mod stats_collector;
mod stats_query;
mod stats_report;
mod supervisor;
mod terminal;
mod trial_request;
mod upgrade;
mod worker_sockets;

pub(crate) use client_memory::client_memory_limit;
pub(crate) use control_request::ControlRequest;
#[cfg(test)]
pub(crate) use host::Host;
pub(crate) use local_host::LocalHost;
pub(crate) use mailbox::{Mailbox, Message, ProfileMessage, StatsMessage};
pub(crate) use memory::{MachineLimits, Rollup};
pub(crate) use open_files::descriptor_budget;
pub(crate) use profile_order::ProfileOrder;
pub(crate) use ready::{Ready, take_descriptor};
pub(crate) use reaper::reap;
pub(crate) use restart_file::{restart_path, watch_restart_file};
#[cfg(test)]
pub(crate) use settings_reader::FreshSettings;
pub(crate) use signals::Signals;
pub(crate) use stats_report::{MemoryAllowance, ProcessStats, StatsReport};
pub(crate) use supervisor::Supervisor;
pub(crate) use upgrade::Predecessor;
#[cfg(test)]
pub(crate) use upgrade::Successor;
