//! The supervisor's decisions about the Ruby processes. [`State::on`] turns an event into commands; whoever carries
//! them out does the I/O and reads the clock.

mod command;
mod event;
mod exit_status;
mod generation_settings;
mod limits;
mod log_line;
mod role;
mod ruby_process;
mod state;

pub use command::{AppCommand, BootSettings, Command, MemorySubject, MemorySubjects, Outcome};
pub use event::{
    AppReading, Event, MemoryReading, ProcessMemory, StackReport, Tick, WorkerTraffic,
};
pub use exit_status::ExitStatus;
pub use generation_settings::GenerationSettings;
pub use limits::Limits;
pub use log_line::LogLine;
pub use role::Role;
pub use ruby_process::{AppProcessId, RubyProcess};
pub use state::{
    AppProcessStatus, RestartReport, RunningProcess, State, WantedProcesses, WorkerStatus,
};
