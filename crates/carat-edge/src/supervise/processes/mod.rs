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
