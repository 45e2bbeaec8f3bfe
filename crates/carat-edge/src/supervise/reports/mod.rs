//! The reports of the server and its processes.

mod history;
mod profiles;
mod ruby_figures;
mod server_status;
mod stacks;
mod stats_collector;
mod stats_query;

pub(crate) use history::{Gauges, History};
pub(crate) use profiles::{Profiles, no_such_worker};
pub(crate) use ruby_figures::RubyFigures;
pub(crate) use server_status::server_status;
pub(crate) use stacks::{Stacks, listed_requests};
pub(crate) use stats_collector::StatsCollector;
