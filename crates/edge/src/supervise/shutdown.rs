use std::time::Instant;

use rustix::process::Signal;

use super::signals::{Request, Signals, signal_process};
use super::supervisor::{Fatal, Supervisor};
use crate::board::TICK;

/// How the server has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Everything was finished, or had its time.
    Finished,
    /// A second signal did not let it finish.
    Cut,
}

impl Supervisor {
    /// Supervises until somebody ends the server, then ends it: the boot, the events in between,
    /// and the stop.
    pub(crate) async fn run(mut self, mut signals: Signals) -> Result<Ending, Fatal> {
        self.serve(&mut signals).await?;
        self.server
            .log
            .info("stopping", &[("pid", &std::process::id())]);
        let ending = self.stop(&mut signals).await?;
        self.kill_all();
        self.server
            .log
            .info("stopped", &[("pid", &std::process::id())]);
        Ok(ending)
    }

    /// Until the first request to stop.
    async fn serve(&mut self, signals: &mut Signals) -> Result<(), Fatal> {
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                Some(event) = self.received.recv() => {
                    self.handle(event)?;
                    self.keep_up()?;
                }
                request = signals.next() => match request {
                    Request::Stop => return Ok(()),
                    Request::ReopenLogs => self.reopen_logs(),
                },
                _ = ticks.tick() => {
                    self.tick();
                    self.keep_up()?;
                }
            }
        }
    }

    fn tick(&self) {
        self.server.board.tick();
        self.server.dispatcher.tick();
        self.server.log.flush();
    }

    fn reopen_logs(&self) {
        match self.server.log.reopen() {
            Ok(()) => self.server.log.info("log reopened", &[]),
            Err(error) => self
                .server
                .log
                .error("cannot reopen the log", &[("cause", &error)]),
        }
    }

    /// Finishes the requests that are under way, then the workers, each within `shutdown_timeout`.
    async fn stop(&mut self, signals: &mut Signals) -> Result<Ending, Fatal> {
        self.server.drain();
        let deadline = Instant::now() + self.server.settings.shutdown_timeout;
        let mut ticks = tokio::time::interval(TICK / 4);
        let mut retired = false;
        while Instant::now() < deadline {
            tokio::select! {
                Some(event) = self.received.recv() => self.handle(event)?,
                request = signals.next() => if request == Request::Stop {
                    return Ok(Ending::Cut);
                },
                _ = ticks.tick() => self.tick(),
            }
            if self.server.is_idle() && !retired {
                retired = true;
                self.retire_all();
            }
            if retired && self.roster.is_empty() {
                return Ok(Ending::Finished);
            }
        }
        self.server
            .log
            .warn("not everything was finished within shutdown_timeout", &[]);
        Ok(Ending::Finished)
    }

    fn retire_all(&mut self) {
        for number in self.roster.numbers() {
            self.retire(number, "worker ends with the server");
        }
    }

    /// Ends every process that is left.
    fn kill_all(&mut self) {
        for (_, worker) in self.roster.iter_mut() {
            if let Some(pid) = worker.pid {
                signal_process(pid, Signal::KILL);
            }
        }
        if let Some(mold) = &self.mold {
            signal_process(mold.pid, Signal::KILL);
        }
    }
}
