use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks the server to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalRequest {
    /// SIGTERM, SIGINT.
    Stop,
    /// SIGHUP.
    ReopenLogs,
    /// SIGUSR1 and SIGUSR2 mean something to other servers, but not to this one. The signal's name.
    Nothing(&'static str),
}

/// The signals that the server handles.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    user1: Signal,
    user2: Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            user1: signal(SignalKind::user_defined1())?,
            user2: signal(SignalKind::user_defined2())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.terminate.recv() => SignalRequest::Stop,
            _ = self.interrupt.recv() => SignalRequest::Stop,
            _ = self.hangup.recv() => SignalRequest::ReopenLogs,
            _ = self.user1.recv() => SignalRequest::Nothing("USR1"),
            _ = self.user2.recv() => SignalRequest::Nothing("USR2"),
        }
    }
}
