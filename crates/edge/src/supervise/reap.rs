use std::fmt;

use rustix::process::{WaitOptions, WaitStatus, wait};
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

/// How a process has ended, for people.
pub(crate) struct Ended(pub(crate) WaitStatus);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.exit_status(), self.0.terminating_signal()) {
            (Some(status), _) => write!(f, "exit status {status}"),
            (_, Some(signal)) => write!(f, "signal {signal}"),
            _ => write!(f, "unknown"),
        }
    }
}
