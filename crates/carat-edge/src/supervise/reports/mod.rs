//! The reports of the server and its processes.

mod process_reports;
mod profiles;
mod ruby_figures;
mod server_status;
mod stacks;
mod stats_collector;
mod stats_query;

pub(crate) use process_reports::ProcessReports;
pub(crate) use profiles::no_such_worker;
pub(crate) use server_status::server_status;
pub(crate) use stacks::listed_requests;
