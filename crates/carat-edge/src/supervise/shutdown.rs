use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::time::Interval;

use super::event::Event;
use super::roster::Boot;
use super::signals::{Request, Signals, signal_process};
use super::supervisor::{Fatal, Supervisor};
use super::workers::KILL_AFTER;
use crate::http::TICK;

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

/// The stop of the server.
struct Stop<'a> {
    signals: &'a mut Signals,
    ticks: Interval,
    begun: Instant,
    /// When `shutdown_timeout` is over.
    deadline: Instant,
    /// The mold has not forked a worker that it was told to: it may stand still in a hook.
    is_forking: bool,
}

impl Stop<'_> {
    fn begin(signals: &mut Signals, timeout: Duration) -> Stop<'_> {
        let begun = Instant::now();
        Stop {
            signals,
            ticks: tokio::time::interval(TICK / 4),
            begun,
            deadline: begun + timeout,
            is_forking: false,
        }
    }

    /// How long those may take that are told to end now.
    fn limit(&self) -> Instant {
        self.deadline.max(Instant::now() + KILL_AFTER)
    }
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
                Some(event) = self.lane_events.recv() => {
                    self.handle(Event::Lane(event))?;
                    self.keep_up()?;
                }
                request = signals.next() => match request {
                    Request::Stop => return Ok(()),
                    Request::ReopenLogs => self.reopen_logs(),
                    Request::Nothing(name) => self.ignore(name),
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
        self.server.deadlines.tick();
        self.server.dispatcher.tick();
        self.server.report();
        self.server.log.flush();
    }

    fn ignore(&self, name: &'static str) {
        let message = "signal ignored: TERM ends the server, HUP opens the log file again";
        self.server.log.warn(message, &[("signal", &name)]);
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

    /// Finishes the requests that are under way, then the workers, then the mold, all within `shutdown_timeout`, but
    /// those that have just been told to end have `KILL_AFTER` at least.
    async fn stop(&mut self, signals: &mut Signals) -> Result<Ending, Fatal> {
        // What clients have sent before the signal counts: let it be seen.
        tokio::task::yield_now().await;
        self.server.drain();
        self.forgo_promotion();
        let mut stop = Stop::begin(signals, self.server.settings.shutdown_timeout);
        let is_cut = self.finish_requests(&mut stop).await?
            || self.end_workers(&mut stop).await?
            || self.end_mold(&mut stop).await?;
        Ok(if is_cut {
            Ending::Cut
        } else {
            Ending::Finished
        })
    }

    /// Until no client is connected. As long as one waits, a worker that ends is replaced: a service manager that
    /// stops the server may signal all of its processes. True when a second signal does not let it finish.
    async fn finish_requests(&mut self, stop: &mut Stop<'_>) -> Result<bool, Fatal> {
        while Instant::now() < stop.deadline {
            if self.go_round(stop).await? {
                return Ok(true);
            }
            if self.server.is_idle() {
                return Ok(false);
            }
            self.keep_up()?;
        }
        self.server
            .log
            .warn("not everything was finished within shutdown_timeout", &[]);
        self.cut_off().await;
        Ok(false)
    }

    /// Until no worker is left. True when a second signal does not let them end.
    async fn end_workers(&mut self, stop: &mut Stop<'_>) -> Result<bool, Fatal> {
        let limit = stop.limit();
        stop.is_forking = self.roster.iter().any(|worker| worker.pid.is_none());
        self.retire_all();
        while !self.roster.is_empty() && Instant::now() < limit {
            if self.go_round(stop).await? {
                return Ok(true);
            }
            self.end_overdue(Instant::now());
        }
        self.kill_workers(Instant::now());
        Ok(false)
    }

    /// Until the mold has run what the application wants to be run at its end, now that nobody needs what that clears
    /// away. True when a second signal does not let it.
    async fn end_mold(&mut self, stop: &mut Stop<'_>) -> Result<bool, Fatal> {
        let limit = if stop.is_forking {
            Instant::now() + KILL_AFTER
        } else {
            stop.limit()
        };
        self.dismiss_mold(limit);
        while !self.promotion.nobody_leaves() && Instant::now() < limit {
            if self.go_round(stop).await? {
                return Ok(true);
            }
        }
        self.tell_unfinished_molds();
        Ok(false)
    }

    /// Waits for the next thing that happens, and handles it. True when that is a second signal to stop.
    async fn go_round(&mut self, stop: &mut Stop<'_>) -> Result<bool, Fatal> {
        tokio::select! {
            Some(event) = self.received.recv() => self.handle(event)?,
            Some(event) = self.lane_events.recv() => self.handle(Event::Lane(event))?,
            request = stop.signals.next() => match request {
                Request::Stop => return Ok(stop.begun.elapsed() > SAME_SIGNAL),
                Request::ReopenLogs => self.reopen_logs(),
                Request::Nothing(name) => self.ignore(name),
            },
            _ = stop.ticks.tick() => self.tick(),
        }
        Ok(false)
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
                // One that was retired before holds nothing any more, if it was cut off.
                self.lane_drained(id);
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
