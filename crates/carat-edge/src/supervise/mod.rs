//! The supervision of the Ruby processes: [`State`](state::State) decides, the executor carries out.
//!
//! Whatever happens (a process is ready, a child exits, a tick, a signal) becomes an [`Event`](event::Event). The state
//! replies with [`Command`](command::Command)s. Both are plain data, so every sequence of events can be tested without a
//! process. A new feature is a new row of events and commands.

mod executor;
mod machine_limits;
mod supervisor;
mod upgrade;

mod messages {
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
}

mod orders {
    //! Orders that arrive at the control socket.

    mod control;
    mod one_off;
}

mod processes {
    //! The Ruby processes and the sockets to them.

    mod channel;
    mod generations;
    mod host;
    mod local_host;
    mod one_off_clients;
    mod ready;
    mod trial_request;
    mod worker_sockets;

    pub(crate) use channel::Channel;
    pub(crate) use generations::Generations;
    pub(crate) use host::Host;
    pub(crate) use local_host::LocalHost;
    pub(crate) use one_off_clients::OneOffClients;
    pub(crate) use ready::{Ready, take_descriptor};
    pub(crate) use trial_request::{check_worker, client_scheme};
    pub(crate) use worker_sockets::WorkerSockets;
}

mod reports {
    //! The reports of the server and its processes.

    mod process_reports;
    mod profiles;
    mod ruby_figures;
    mod server_status;
    mod stacks;
    mod stats_collector;
    mod stats_query;

    pub(crate) use process_reports::ProcessReports;
    pub(crate) use profiles::numbered_worker;
    pub(crate) use server_status::server_status;
    pub(crate) use stacks::listed_requests;
}

mod signals_and_files {
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
}

pub(crate) use machine_limits::{client_memory_limit, descriptor_budget};
#[cfg(test)]
pub(crate) use messages::FreshSettings;
pub(crate) use messages::{
    ControlRequest, Mailbox, Message, ProcessStats, ProfileMessage, ProfileOrder, StatsMessage,
    StatsReport,
};
#[allow(unused_imports, reason = "a build without parts orders none")]
pub(crate) use messages::{OneOffMessage, OneOffOrder, OneOffReport};
#[cfg(test)]
pub(crate) use processes::Host;
pub(crate) use processes::{LocalHost, Ready, take_descriptor};
pub(crate) use signals_and_files::{Signals, reap, restart_path, watch_restart_file};
pub(crate) use supervisor::Supervisor;
#[cfg(test)]
pub(crate) use upgrade::Successor;
pub(crate) use upgrade::{Predecessor, inherit_listeners};
