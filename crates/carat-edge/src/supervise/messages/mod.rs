//! The messages from other parts of the server to the supervisor.

mod console_message;
mod control_request;
mod mailbox;
mod profile_order;
mod settings_reader;
mod stats_report;

pub(crate) use console_message::{ConsoleMessage, ConsoleOrder, ConsoleReport};
pub(crate) use control_request::{ControlReply, ControlRequest};
pub(crate) use mailbox::{Mailbox, Message, ProfileMessage, StatsMessage};
pub(crate) use profile_order::{ProfileOrder, ProfileReply, REPLY_TIMEOUT};
pub(crate) use settings_reader::{FreshSettings, read_settings};
pub(crate) use stats_report::{MemoryAllowance, ProcessStats, StatsReport};
