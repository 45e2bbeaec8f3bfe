use std::os::fd::OwnedFd;

use carat_supervisor::{AppProcessId, ExitStatus};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// A message about the one-off processes of clients of the control socket.
#[allow(dead_code, reason = "a build without parts orders none")]
pub(crate) enum OneOffMessage {
    /// A client wants a one-off process. The reply is its id, or why there is none.
    Open(OneOffOrder, oneshot::Sender<Result<AppProcessId, String>>),
    /// The client of the process sends it this signal, and waits until the signal is sent.
    Signal(AppProcessId, i32, oneshot::Sender<()>),
}

/// An order for a one-off process, which runs once, for one client.
#[allow(dead_code, reason = "a build without parts orders none")]
pub(crate) struct OneOffOrder {
    /// The name of the process. No declared process has this name.
    pub(crate) name: &'static str,
    /// The text of the order, which the process reads.
    pub(crate) order: Vec<u8>,
    /// The standard streams of the client.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// The sender of reports to the client.
    pub(crate) reports: UnboundedSender<OneOffReport>,
}

/// A report to the client about its process.
#[allow(dead_code, reason = "a build without parts orders none")]
pub(crate) enum OneOffReport {
    /// The process runs.
    Begun,
    /// The process has ended, or could not begin for this reason. This is the last report.
    Ended(Result<ExitStatus, String>),
}
