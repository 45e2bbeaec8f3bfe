//! The simulated environment of the server: its processes, their lanes, and their memory.

mod app;
mod host;
mod lane;
mod page;
mod process;
mod process_table;
mod reading;
mod served_request;
mod socket;
mod upload;
mod worker;

pub(crate) use host::SimulatedHost;
pub(crate) use process::SimulatedProcess;
pub(crate) use process_table::ProcessTable;
pub(crate) use reading::reading;
pub(crate) use served_request::pattern;
pub(crate) use upload::upload;
