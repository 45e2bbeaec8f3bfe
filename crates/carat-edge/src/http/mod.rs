//! Client connections and what HTTP/1.1 asks of them.

mod access;
mod connection;
mod guarded;
mod peer;
mod refusal;
mod serve;
mod slow_reader;
mod target;
mod watch;

pub(crate) use access::AccessLog;
pub(crate) use connection::{drive, http1};
pub(crate) use peer::Peer;
pub(crate) use refusal::Refusal;
pub(crate) use serve::Finish;
pub(crate) use target::Target;
pub(crate) use watch::Watch;
