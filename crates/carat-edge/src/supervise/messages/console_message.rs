use std::os::fd::OwnedFd;

use carat_supervisor::{AppProcessId, ExitStatus};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// A message about the consoles of clients of the control socket.
pub(crate) enum ConsoleMessage {
    /// Somebody wants one. The reply is its id, or why there is none.
    Open(ConsoleOrder, oneshot::Sender<Result<AppProcessId, String>>),
    /// The client of the console sends it this signal, and waits until that is done.
    Signal(AppProcessId, i32, oneshot::Sender<()>),
}

/// An order for a console.
pub(crate) struct ConsoleOrder {
    /// The text of the order, which the console's process reads.
    pub(crate) order: Vec<u8>,
    /// The standard streams of the client.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// The sender of reports to the client.
    pub(crate) reports: UnboundedSender<ConsoleReport>,
}

/// A report to the client about its console.
pub(crate) enum ConsoleReport {
    /// The console runs.
    Begun,
    /// The console has ended, or has not begun for this reason: the last report.
    Ended(Result<ExitStatus, String>),
}
