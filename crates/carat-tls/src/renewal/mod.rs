//! Replacement of certificates while the server runs.

mod issue;
mod watch;

pub(crate) use issue::issue_certificates;
pub(crate) use watch::watch_certificates;
