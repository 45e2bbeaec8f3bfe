use std::io;

use rustix::process::{Pid, Signal as Number, kill_process};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// SIGTERM, SIGINT: finish and end.
    Stop,
    /// SIGHUP: open the logs anew.
    ReopenLogs,
    /// SIGUSR1, SIGUSR2, which other servers know: nothing. Its name.
    Nothing(&'static str),
}

/// The signals that people send.
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
    pub(crate) async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.terminate.recv() => Request::Stop,
            _ = self.interrupt.recv() => Request::Stop,
            _ = self.hangup.recv() => Request::ReopenLogs,
            _ = self.user1.recv() => Request::Nothing("USR1"),
            _ = self.user2.recv() => Request::Nothing("USR2"),
        }
    }
}

/// Sends a signal to a child that has not been reaped, so that its number is still its own.
pub(super) fn signal_process(pid: u32, signal: Number) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may be dead already; then its end is reaped next.
        let _ = kill_process(pid, signal);
    }
}
