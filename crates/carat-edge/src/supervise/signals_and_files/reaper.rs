use std::io;
use std::path::Path;

use rustix::process::{WaitOptions, wait};
use tokio::signal::unix::{SignalKind, signal};

use crate::supervise::messages::Mailbox;
use carat_machine::Container;
use carat_supervisor::{Event, ExitStatus, ProcessEvent};

/// Reaps child processes. The edge is the subreaper of all Ruby processes: a worker becomes its child when the process
/// that forked the worker is gone. Returns only with an error.
pub(crate) async fn reap(mailbox: Mailbox) -> io::Result<()> {
    let container = Container::find(Path::new("/"));
    let mut signals = signal(SignalKind::child())?;
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            mailbox.event(Event::Process(ProcessEvent::Exited {
                pid: pid.as_raw_pid().unsigned_abs(),
                status: ExitStatus::new(status, || container.oom_kills()),
            }));
        }
        if signals.recv().await.is_none() {
            return Err(io::Error::other("SIGCHLD is not delivered any more"));
        }
    }
}
