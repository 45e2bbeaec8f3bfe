//! Replacement of certificates while the server runs.

mod issue;
mod watch;

pub use issue::issue_certificates;
pub use watch::watch_certificates;
