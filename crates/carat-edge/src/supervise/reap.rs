use std::fmt;
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions, WaitStatus, wait};
use tokio::signal::unix::{SignalKind, signal};

use super::event::{Event, Events};

/// Collects dead children. The edge is the subreaper of all Ruby processes: workers become its
/// children when the process that forked them is gone.
pub(crate) async fn reap(events: Events) -> std::io::Result<()> {
    let mut signals = signal(SignalKind::child())?;
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            events.send(Event::Reaped {
                pid: pid.as_raw_pid().unsigned_abs(),
                status,
            });
        }
        if signals.recv().await.is_none() {
            return Ok(());
        }
    }
}

/// How long a dead child that nobody has known is remembered.
const STRANGER_TIME: Duration = Duration::from_secs(1);

/// Dead children that nobody has known. A worker that dies at once may be reaped before its hello has
/// been read; the others are processes that the application has left behind.
#[derive(Debug, Default)]
pub(super) struct Strangers(Vec<(Instant, u32, WaitStatus)>);

impl Strangers {
    /// Remembers one for a while.
    pub(super) fn note(&mut self, now: Instant, pid: u32, status: WaitStatus) {
        self.0.push((now, pid, status));
    }

    /// How the process with this number has ended, if it has.
    pub(super) fn take(&mut self, pid: u32) -> Option<WaitStatus> {
        let place = self.0.iter().position(|&(_, dead, _)| dead == pid)?;
        Some(self.0.swap_remove(place).2)
    }

    /// Forgets those whose number may belong to somebody else by now.
    pub(super) fn forget(&mut self, now: Instant) {
        self.0
            .retain(|&(since, ..)| now.duration_since(since) < STRANGER_TIME);
    }
}

/// How a process has ended, for people; `None` when that is not known.
pub(crate) struct Ended(pub(crate) Option<WaitStatus>);

impl Ended {
    /// Whether it was killed by SIGKILL.
    pub(crate) fn is_kill(&self) -> bool {
        self.0.and_then(WaitStatus::terminating_signal) == Some(Signal::KILL.as_raw())
    }

    /// Whether it has ended by itself and content.
    pub(crate) fn is_success(&self) -> bool {
        self.0.and_then(WaitStatus::exit_status) == Some(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.0.and_then(WaitStatus::exit_status);
        let signal = self.0.and_then(WaitStatus::terminating_signal);
        match (status, signal) {
            (Some(status), _) => write!(f, "exit status {status}"),
            (_, Some(signal)) => write!(f, "signal {signal}"),
            _ => write!(f, "unknown"),
        }
    }
}
