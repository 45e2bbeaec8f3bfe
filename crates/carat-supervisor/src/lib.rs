//! The supervisor's decisions about the Ruby processes. [`State::on`] turns an event into commands. Its caller does the
//! I/O of the commands and reads the clock.

// A wildcard arm would silently drop a new event or command. Tests may look at some variants only.
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod command;
mod event;
mod exit_status;
mod generation_settings;
mod limits;
mod log_line;
mod reading;
mod ruby_process;
mod state;

pub use command::{
    AppCommand, AppSubject, BootSettings, ClientsCommand, Command, MemorySubject, MemorySubjects,
    MoldCommand, Outcome, UpgradeCommand, WorkerCommand,
};
pub use event::{AppEvent, Event, ProcessEvent, RestartEvent, UpgradeEvent, WorkerEvent};
pub use exit_status::ExitStatus;
pub use generation_settings::GenerationSettings;
pub use limits::Limits;
pub use log_line::LogLine;
pub use reading::{AppReading, MemoryReading, ProcessMemory, StackReport, Tick, WorkerTraffic};
pub use ruby_process::{AppProcessId, Role, RubyProcess};
pub use state::{
    AppProcessStatus, RestartReport, RunningProcess, State, WantedProcesses, WorkerStatus,
};
