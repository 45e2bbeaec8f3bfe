use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::roster::Boot;
use super::signals::{Request, Signals, signal_process};
use super::supervisor::{Fatal, Supervisor};
use super::workers::KILL_AFTER;
use crate::board::TICK;

/// Wrappers such as `timeout` send a signal twice, to the process and to its group: what comes this
/// soon after the first is not a second one.
const SAME_SIGNAL: Duration = Duration::from_millis(250);

/// How long the last answers have to be sent.
const LAST_WORDS: Duration = Duration::from_millis(250);

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
                    self.follow_load(Instant::now());
                    self.keep_up()?;
                }
            }
        }
    }

    fn tick(&self) {
        self.server.board.tick();
        self.server.dispatcher.tick();
        self.server.report();
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

                    Request::Nothing(name) => self.ignore(name),
    /// Finishes the requests that are under way, then the workers, all within `shutdown_timeout`. While a
    /// client waits, a worker that ends is replaced: a service manager that stops the server may signal
    /// all of its processes.
    async fn stop(&mut self, signals: &mut Signals) -> Result<Ending, Fatal> {
        // What clients have sent before the signal counts: let it be seen.
        tokio::task::yield_now().await;
        self.server.drain();
        self.forgo_promotion();
        let begun = Instant::now();
        let deadline = begun + self.server.settings.shutdown_timeout;
        let mut ticks = tokio::time::interval(TICK / 4);
        let mut retired = false;
        while Instant::now() < deadline {
            tokio::select! {
                Some(event) = self.received.recv() => self.handle(event)?,
                request = signals.next() => if request == Request::Stop && begun.elapsed() > SAME_SIGNAL {
                    return Ok(Ending::Cut);
    fn ignore(&self, name: &'static str) {
        let message = "signal ignored: TERM ends the server, HUP opens the log file again";
        self.server.log.warn(message, &[("signal", &name)]);
    }

                },
                _ = ticks.tick() => self.tick(),
            }
            if !retired && self.server.is_idle() {
                retired = true;
                self.retire_all();
                self.dismiss_mold(Instant::now() + KILL_AFTER);
            }
            if retired {
                self.end_overdue(Instant::now());
                self.kill_overdue_molds(Instant::now());
            } else {
                self.keep_up()?;
            }
            if retired && self.roster.is_empty() && self.promotion.nobody_leaves() {
                return Ok(Ending::Finished);
            }
        }
        self.server
            .log
            .warn("not everything was finished within shutdown_timeout", &[]);
        self.cut_off().await;
        Ok(Ending::Finished)
    }

    /// Tells the clients that still wait that they wait in vain.
    async fn cut_off(&self) {
        self.server.dispatcher.give_up_all();
        let deadline = Instant::now() + LAST_WORDS;
        while !self.server.is_idle() && Instant::now() < deadline {
            tokio::time::sleep(TICK / 4).await;
        }
    }

    fn retire_all(&mut self) {
        for id in self.roster.ids() {
            if self
                .roster
                .get_mut(id)
                .is_some_and(|worker| worker.boot == Boot::Done)
            {
                self.retire(id, "worker ends with the server");
            } else {
                self.abandon(id);
            }
        }
    }

    /// Ends every process that is left.
    fn kill_all(&mut self) {
        for worker in self.roster.iter_mut() {
            if let Some(pid) = worker.pid {
                signal_process(pid, Signal::KILL);
            }
        }
        if let Some(mold) = &self.mold {
            signal_process(mold.pid, Signal::KILL);
        }
        for pid in self.promotion.pids() {
            signal_process(pid, Signal::KILL);
        }
    }
}
