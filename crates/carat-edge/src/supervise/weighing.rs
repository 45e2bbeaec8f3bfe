use std::time::Instant;

use super::memory::{Advice, Load, Sample, Size, Subject, Subjects, Trend, Weight};
use super::recycle::Reason;
use super::roster::{Roster, Stage, Worker};
use super::supervisor::Supervisor;
use crate::dispatch::WorkerId;
use crate::log::Field;

/// A worker that is too heavy before it has begun so many requests has not grown: the next one will soon be as heavy.
const REQUESTS_LEAST: u64 = 16;

/// A worker that has begun so many requests weighs about what it will.
const GROWN_REQUESTS: u64 = 100;

/// What the processes weigh, and who has to go for it.
impl Supervisor {
    /// Has all processes weighed when it is time.
    pub(super) fn weigh(&mut self, now: Instant) {
        let mold = self.mold.as_ref().filter(|mold| mold.is_ready);
        let is_empty = mold.is_none() && self.roster.is_empty();
        if is_empty || !self.scales.sampler.is_due(now) {
            return;
        }
        let subjects = Subjects {
            edge: std::process::id(),
            mold: mold.map(|mold| (mold.generation, mold.pid)),
            workers: self.roster.iter().filter_map(subject).collect(),
            others: self.promotion.pids().collect(),
        };
        let container = self.scales.container.clone();
        let events = self.events.clone();
        self.scales.sampler.begin(subjects, container, events);
    }

    /// All have been weighed.
    pub(super) fn measured(&mut self, sample: &Sample) {
        self.scales.note(sample);
        if let (Some(mold), Some((generation, rollup))) = (&mut self.mold, sample.mold) {
            mold.rollup = Some(rollup)
                .filter(|_| mold.generation == generation)
                .or(mold.rollup);
        }
        self.note_workers(sample);
        let limit = self.server.settings.worker_memory;
        let weights = self.roster.iter().filter_map(|worker| worker.weight);
        let private = weights.filter_map(|weight| Some(weight.private.approach(limit?)));
        self.scales.pace(sample, private);
        if self.roster.leavers().let_heavy_go(self.wanted) {
            self.relieve(sample.at);
        }
    }

    /// How many more workers may be started.
    pub(super) fn room(&self) -> u32 {
        let staying = self.roster.iter().filter(|worker| worker.counts());
        let loads: Vec<Load> = staying.map(load).collect();
        let mold = self.mold.as_ref().and_then(|mold| mold.rollup.as_ref());
        self.scales.room(&loads, mold)
    }

    /// How many of `missing` workers may be forked now. One worker always runs, whatever there is room for.
    pub(super) fn affordable(&mut self, missing: u32) -> u32 {
        if missing == 0 {
            self.scales.is_shortage_told = false;
            return 0;
        }
        let staying = self.roster.staying();
        let allowed = self.room().max(u32::from(staying == 0)).min(missing);
        let is_changing = !self.roster.leavers().is_nobody()
            || self.roster.booting() > 0
            || !self.scales.sampler.is_current(Instant::now());
        if allowed == 0 && !is_changing {
            self.tell_shortage(staying);
        }
        allowed
    }

    /// Whether no worker can be had beside those that serve.
    pub(super) fn is_full(&self) -> bool {
        self.roster.booting() == 0 && self.roster.serving() > 0 && self.room() == 0
    }

    fn note_workers(&mut self, sample: &Sample) {
        let limit = self.server.settings.worker_memory.unwrap_or(u64::MAX);
        for (subject, rollup) in &sample.workers {
            let worker = self.roster.get_mut(subject.id);
            let Some(worker) = worker.filter(|_| subject.is_ready) else {
                continue;
            };
            let before = worker.weight.map(|weight| weight.private);
            worker.weight = Some(Weight {
                rollup: *rollup,
                private: Trend::after(before, rollup.private, limit, sample.at),
                is_grown: subject.is_grown,
            });
        }
    }

    /// Replaces a worker that weighs too much by itself, or the heaviest when all together do.
    fn relieve(&mut self, now: Instant) {
        let Some((id, weight)) = heaviest(&self.roster) else {
            return;
        };
        if weight.private.is_too_much() {
            self.relieve_worker(id, &weight, now);
        } else {
            self.scales.worker_remedy.rest(now);
        }
        if self.roster.leavers().let_heavy_go(self.wanted) {
            self.relieve_all(id, now);
        }
    }

    fn relieve_worker(&mut self, id: WorkerId, weight: &Weight, now: Instant) {
        let Some(limit) = self.server.settings.worker_memory else {
            return;
        };
        let private = Size(weight.rollup.private);
        let limit = Size(limit);
        let begun = self.roster.get_mut(id).map_or(0, |worker| worker.begun());
        let advice = if weight.private.began_too_much() || begun < REQUESTS_LEAST {
            self.scales.worker_remedy.advise(now)
        } else {
            Advice::Try
        };
        match advice {
            Advice::Try => {
                self.replace(id, Reason::Memory { private, limit });
            }
            Advice::Tell => {
                let fields: [Field<'_>; 2] = [("private", &private), ("limit", &limit)];
                let message = "workers are soon above worker_memory: it is too small";
                self.server.log.warn(message, &fields);
            }
            Advice::Wait => {}
        }
    }

    /// The heaviest of several goes and is not replaced before there is room; one alone is replaced, where that helps.
    /// Nobody goes where it is enough that those end that drain.
    fn relieve_all(&mut self, heaviest: WorkerId, now: Instant) {
        let Some(all) = self.scales.all.filter(|all| all.used.is_too_much()) else {
            return;
        };
        let left = all.used.bytes.saturating_sub(self.roster.leaving_bytes());
        if self.roster.booting() > 0 || !all.budget.is_over(left) {
            return;
        }
        let (used, limit) = (Size(all.used.bytes), Size(all.budget.limit));
        let advice = if self.roster.serving() > 1 {
            Advice::Try
        } else {
            self.scales.budget_remedy.advise(now)
        };
        match advice {
            Advice::Try => {
                self.replace(heaviest, Reason::Budget { used, limit });
                self.scales.forgive();
            }
            Advice::Tell => {
                let fields: [Field<'_>; 2] = [("used", &used), ("limit", &limit)];
                let message = "one worker is more than the memory there is (memory)";
                self.server.log.warn(message, &fields);
            }
            Advice::Wait => {}
        }
    }

    fn tell_shortage(&mut self, staying: u32) {
        let Some(all) = self.scales.all.filter(|_| !self.scales.is_shortage_told) else {
            return;
        };
        self.scales.is_shortage_told = true;
        let (used, limit) = (Size(all.used.bytes), Size(all.budget.limit));
        let fields: [Field<'_>; 4] = [
            ("workers", &staying),
            ("wanted", &self.wanted),
            ("used", &used),
            ("limit", &limit),
        ];
        let message = "no memory for more workers (memory)";
        self.server.log.warn(message, &fields);
    }
}

fn subject(worker: &Worker) -> Option<Subject> {
    Some(Subject {
        id: worker.id,
        pid: worker.pid?,
        is_ready: worker.stage == Stage::Ready,
        is_grown: worker.begun() >= GROWN_REQUESTS,
    })
}

fn load(worker: &Worker) -> Load {
    Load {
        private: worker.weight.map(|weight| weight.rollup.private),
        is_grown: worker.weight.is_some_and(|weight| weight.is_grown),
    }
}

/// The worker with the most private memory among those that serve.
fn heaviest(roster: &Roster) -> Option<(WorkerId, Weight)> {
    let serving = roster.iter().filter(|worker| worker.stage == Stage::Ready);
    let weights = serving.filter_map(|worker| Some((worker.id, worker.weight?)));
    weights.max_by_key(|(_, weight)| weight.rollup.private)
}
