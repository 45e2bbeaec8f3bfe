//! The links between the supervisor and the system: signals, ended processes, the restart file, the terminal, and the
//! service manager.

mod reaper;
mod restart_file;
mod service_manager;
mod signals;
mod terminal;

pub(crate) use reaper::reap;
pub(crate) use restart_file::{restart_path, watch_restart_file};
pub(crate) use service_manager::ServiceManager;
pub(crate) use signals::{SignalRequest, Signals};
