use std::rc::Rc;
use std::time::Instant;

use rustix::process::WaitStatus;
use tokio::sync::mpsc::UnboundedReceiver;

use super::backoff::Backoff;
use super::boot_errors::BootErrors;
use super::census::Census;
use super::event::{Event, Events, Who};
use super::memory::Scales;
use super::mold::Mold;
use super::promotion::Promotion;
use super::ready::Ready;
use super::reap::{Ended, Strangers};
use super::roster::Roster;
use crate::dispatch::LaneEvent;
use crate::http::Server;
use crate::settings::Workers;

/// Keeps as many workers as there should be.
pub(crate) struct Supervisor {
    pub(super) server: Rc<Server>,
    pub(super) events: Events,
    pub(super) received: UnboundedReceiver<Event>,
    pub(super) lane_events: UnboundedReceiver<LaneEvent>,
    pub(super) roster: Roster,
    pub(super) mold: Option<Mold>,
    pub(super) promotion: Promotion,
    ready: Ready,
    pub(super) generation: u32,
    pub(super) announced: bool,
    /// How many workers there should be.
    pub(super) wanted: u32,
    pub(super) mold_backoff: Backoff,
    pub(super) worker_backoff: Backoff,
    pub(super) boot_errors: BootErrors,
    pub(super) strangers: Strangers,
    pub(super) census: Census,
    pub(super) scales: Scales,
}

/// Why the server cannot go on.
#[derive(Debug)]
pub(crate) struct Fatal(pub(crate) String);

impl Supervisor {
    pub(crate) fn new(
        server: Rc<Server>,
        (events, received): (Events, UnboundedReceiver<Event>),
        lane_events: UnboundedReceiver<LaneEvent>,
        ready: Ready,
    ) -> Supervisor {
        let wanted = match server.settings.workers {
            Workers::Between { min, .. } => min,
            Workers::Auto => 1,
        };
        let promotion = Promotion::new(&server.settings.refork);
        let scales = Scales::new(server.settings.memory, Instant::now());
        Supervisor {
            scales,
            server,
            events,
            received,
            lane_events,
            roster: Roster::default(),
            mold: None,
            promotion,
            ready,
            generation: 0,
            announced: false,
            wanted,
            mold_backoff: Backoff::default(),
            worker_backoff: Backoff::default(),
            boot_errors: BootErrors::default(),
            strangers: Strangers::default(),
            census: Census::default(),
        }
    }

    /// Handles one event.
    pub(super) fn handle(&mut self, event: Event) -> Result<(), Fatal> {
        match event {
            Event::Greeted {
                who: Who::Worker(id),
                pid,
            } => self.worker_greeted(id, pid),
            Event::Greeted { .. } => {}
            Event::Ready(Who::Mold(generation)) => self.mold_ready(generation),
            Event::Ready(Who::Worker(id)) => self.worker_ready(id),
            Event::BootFailed { who, text } => self.boot_failed(who, &text)?,
            Event::Stack { worker, lane, text } => self.log_stack(worker, lane, &text),
            Event::NotForkSafe { generation, text } => self.not_fork_safe(generation, &text),
            Event::Leaving(id) => self.leave(id),
            Event::Figures { who, json } => self.figures_heard(who, Some(json)),
            Event::Census(asker) => self.take_census(asker),
            Event::CensusDue(number) => self.census_due(number),
            Event::Closed(who) => self.closed(who),
            Event::Lane(LaneEvent::Lost(tag)) => self.lane_lost(tag.worker),
            Event::Lane(LaneEvent::Drained(tag)) => self.lane_drained(tag.worker),
            Event::Lane(LaneEvent::Stuck { tag, request }) => self.lane_stuck(tag, request),
            Event::Measured(sample) => self.measured(&sample),
            Event::Reaped { pid, status } => self.reaped(pid, status)?,
        }
        Ok(())
    }

    /// Starts what is missing and ends what is overdue. Called once a tick.
    pub(super) fn keep_up(&mut self) -> Result<(), Fatal> {
        let now = Instant::now();
        self.strangers.forget(now);
        self.keep_mold(now)?;
        self.fail_late_boots(now);
        self.end_overdue(now);
        self.weigh(now);
        self.succeed();
        self.fork_missing(now);
        Ok(())
    }

    fn fork_missing(&mut self, now: Instant) {
        let is_ready = self.mold.as_ref().is_some_and(|mold| mold.is_ready);
        if !is_ready || !self.worker_backoff.allows(now) {
            return;
        }
        for _ in 0..self.affordable(self.roster.missing(self.wanted)) {
            if let Err(error) = self.fork_worker() {
                self.worker_backoff.fail(now);
                self.server
                    .log
                    .error("cannot fork a worker", &[("cause", &error)]);
                break;
            }
        }
    }

    pub(super) fn announce(&mut self) {
        let pid = std::process::id();
        let version = &self.server.settings.version;
        for url in self.ready.urls() {
            self.server.log.info(
                "listening",
                &[("url", url), ("version", version), ("pid", &pid)],
            );
        }
        if let Err(error) = self.ready.announce() {
            self.server
                .log
                .warn("cannot write to --ready-fd", &[("cause", &error)]);
        }
    }

    fn closed(&mut self, who: Who) {
        match who {
            Who::Mold(generation) => self.mold_closed(generation),
            Who::Worker(id) => self.worker_closed(id),
        }
        self.figures_heard(who, None);
    }

    fn boot_failed(&mut self, who: Who, text: &str) -> Result<(), Fatal> {
        match who {
            Who::Mold(generation)
                if self
                    .mold
                    .as_ref()
                    .is_some_and(|mold| mold.generation == generation) =>
            {
                self.mold_failed(text)
            }
            Who::Mold(generation) => {
                if self.promotion.is_heir(generation) {
                    self.heir_failed(text, false);
                }
                Ok(())
            }
            Who::Worker(id) => {
                self.worker_boot_failed(id, text);
                Ok(())
            }
        }
    }

    fn not_fork_safe(&mut self, generation: u32, text: &str) {
        if self.promotion.is_heir(generation) {
            self.heir_failed(text, true);
        }
    }

    fn reaped(&mut self, pid: u32, status: WaitStatus) -> Result<(), Fatal> {
        if let Some(id) = self.roster.with_pid(pid) {
            self.worker_died(id, &Ended(Some(status)));
        } else if self.mold.as_ref().is_some_and(|mold| mold.pid == pid) {
            return self.mold_died(&Ended(Some(status)));
        } else if !self.promoted_died(pid, &Ended(Some(status))) {
            self.strangers.note(Instant::now(), pid, status);
        }
        Ok(())
    }
}
