use std::os::fd::OwnedFd;

use carat_supervisor::{AppProcessId, ExitStatus};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// A message about the consoles of clients of the control socket.
pub(crate) enum ConsoleMessage {
    /// Somebody wants one. The reply is its id, or why there is none.
    Open(ConsoleOrder, oneshot::Sender<Result<AppProcessId, String>>),
    /// Its client sends it this signal, and waits until that is done.
    Signal(AppProcessId, i32, oneshot::Sender<()>),
}

/// What somebody wants to run.
pub(crate) struct ConsoleOrder {
    /// What the process reads.
    pub(crate) order: Vec<u8>,
    /// The standard streams of the client.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// To the client.
    pub(crate) reports: UnboundedSender<ConsoleReport>,
}

/// What the client learns.
pub(crate) enum ConsoleReport {
    /// It runs.
    Begun,
    /// It has ended, or why it never began: the last report.
    Ended(Result<ExitStatus, String>),
}
