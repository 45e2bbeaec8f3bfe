//! The messages from other parts of the server to the supervisor.

mod control_request;
mod mailbox;
mod one_off_message;
mod profile_order;
mod settings_reader;
mod stats_report;

pub(crate) use control_request::{ControlReply, ControlRequest};
pub(crate) use mailbox::{Mailbox, Message, ProfileMessage, StatsMessage};
pub(crate) use one_off_message::{OneOffMessage, OneOffOrder, OneOffReport};
pub(crate) use profile_order::{ProfileOrder, ProfileReply, REPLY_TIMEOUT};
pub(crate) use settings_reader::{FreshSettings, read_settings};
pub(crate) use stats_report::{MemoryAllowance, ProcessStats, StatsReport};
