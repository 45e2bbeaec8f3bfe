//! The simulated surroundings of the server: its processes, their lanes and memory, and the sockets between them.

mod host;
mod lane;
mod page;
mod process;
mod reading;
mod served_request;
mod socket;
mod upload;
mod wire;
mod worker;
mod world;

pub(crate) use host::SimulatedHost;
pub(crate) use process::SimulatedProcess;
pub(crate) use reading::reading;
pub(crate) use served_request::pattern;
pub(crate) use upload::upload;
pub(crate) use world::{World, micros};
