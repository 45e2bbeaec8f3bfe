use std::time::Instant;

use super::elastic::{Demand, Elastic};
use super::recycle::{Reason, Wear};
use super::roster::Stage;
use super::supervisor::Supervisor;
use crate::dispatch::WorkerId;
use crate::log::Field;

/// How the number of workers follows the load, and how one takes over from another.
impl Supervisor {
    /// Asks for more workers, or fewer, and finds those that have had their time. Called once a tick.
    pub(super) fn follow_load(&mut self, now: Instant) {
        self.grow();
        self.shrink(now);
        self.replace_worn(now);
        self.keep_sharing(now);
    }

    /// A worker is to be replaced: it goes on until as many others serve as are wanted. False when it has to wait for
    /// others that are being replaced, or does not serve.
    pub(super) fn replace(&mut self, id: WorkerId, reason: Reason) -> bool {
        if !self.roster.leavers().allow(&reason, self.wanted) {
            return false;
        }
        let Some(worker) = self.roster.get_mut(id) else {
            return false;
        };
        if worker.stage != Stage::Ready {
            return false;
        }
        worker.leaves_for = Some(reason);
        let why: Field<'_> = ("reason", &reason);
        let fields = [&worker.identity()[..], &[why], &reason.figures()].concat();
        self.server.log.info("worker is to be replaced", &fields);
        true
    }

    /// Drains the worker that is to be replaced when its successor serves, or at once when there is no memory for one
    /// beside it. Nobody becomes the mold in that case: for a moment there would be one worker less.
    pub(super) fn succeed(&mut self) {
        let is_short = self.roster.serving() < self.wanted;
        if is_short && !self.is_full() {
            return;
        }
        let leaver = self
            .roster
            .iter_mut()
            .find(|worker| worker.leaves_for.is_some() && worker.stage == Stage::Ready);
        let Some(worker) = leaver else { return };
        if is_short && worker.is_promoted() {
            worker.forgo_promotion();
            let cause = "there is no memory for its successor (memory)";
            let log = &self.server.log;
            self.promotion
                .candidate_fails(Instant::now(), log, worker, cause);
        } else {
            let id = worker.id;
            self.retire(id, "worker is replaced");
        }
    }

    /// The bounds of the number of workers.
    fn elastic(&self) -> Elastic {
        let settings = &self.server.settings;
        let processors = self.scales.machine.processors;
        Elastic::new(settings.workers, settings.queue_time_target, processors)
    }

    fn grow(&mut self) {
        let (queue_time, waiting) = self.server.dispatcher.take_queue_time();
        let demand = Demand {
            queue_time,
            waiting,
            places: self.server.settings.places(),
            booting: self.roster.booting() + self.roster.missing(self.wanted),
        };
        let affordable = self.roster.staying().saturating_add(self.room());
        let asked = self.elastic().grown(self.wanted, &demand);
        let wanted = asked.min(affordable.max(self.wanted));
        if wanted > self.wanted {
            let milliseconds = queue_time.as_millis();
            let fields: [Field<'_>; 3] = [
                ("workers", &wanted),
                ("waiting", &waiting),
                ("queue_ms", &milliseconds),
            ];
            self.server.log.info("more workers", &fields);
            self.wanted = wanted;
        }
    }

    /// One worker less is wanted when one has had nothing to do for long. It ends, unless no more than that run anyway.
    fn shrink(&mut self, now: Instant) {
        if !self.elastic().may_shrink(self.wanted) {
            return;
        }
        let limit = self.server.settings.worker_idle_timeout;
        let coldest = self.roster.coldest(now).filter(|(_, idle)| *idle >= limit);
        // One that boots is not there yet for the one that would end.
        let Some((id, _)) = coldest.filter(|_| self.roster.booting() == 0) else {
            return;
        };
        self.wanted -= 1;
        if self.roster.staying() > self.wanted {
            self.retire(id, "worker ends: it has had nothing to do");
        } else {
            let fields: [Field<'_>; 1] = [("wanted", &self.wanted)];
            self.server.log.info("fewer workers", &fields);
        }
    }

    fn replace_worn(&mut self, now: Instant) {
        let settings = &self.server.settings;
        let wear = Wear {
            requests: settings.worker_requests,
            age: settings.worker_age,
        };
        let worn = self.roster.iter().find_map(|worker| {
            let reason = wear.reason(worker.id.serial, worker.begun(), worker.age(now))?;
            (worker.stage == Stage::Ready).then_some((worker.id, reason))
        });
        if let Some((id, reason)) = worn {
            self.replace(id, reason);
        }
    }
}
