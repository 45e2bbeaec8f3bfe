use std::rc::Rc;
use std::time::Instant;

use carat_wire::control::encode_signal;
use rustix::process::Signal;

use super::event::Who;
use super::mold::Mold;
use super::reap::Ended;
use super::recycle::Reason;
use super::refork::{Candidate, Reforks};
use super::roster::{Stage, Worker};
use super::signals::signal_process;
use super::supervisor::Supervisor;
use crate::dispatch::Lane;
use crate::dispatch::WorkerId;
use crate::log::{Field, Log};
use crate::settings::Refork;

/// How a worker becomes the mold of the next generation: its successor serves, it is drained (`succession`), told to be
/// the mold, and takes over when it says that it is; then the workers of older generations are replaced.
#[derive(Debug)]
pub(crate) struct Promotion {
    reforks: Reforks,
    /// A worker is on its way; what it had for itself.
    candidate: Option<u64>,
    heir: Option<Heir>,
    /// Workers of generations before this one are to be replaced.
    renewed: u32,
    leaving: Vec<Leaving>,
}

/// A mold that is to end.
#[derive(Debug)]
struct Leaving {
    mold: Mold,
    /// Set for one that is no mold yet, and will be none.
    worker: Option<Former>,
    /// When it is killed.
    deadline: Instant,
}

/// What the log calls a process that is no worker any more, and no mold yet.
#[derive(Debug, Clone, Copy)]
struct Former {
    id: WorkerId,
    generation: u32,
}

/// A worker that was told to be the mold.
#[derive(Debug)]
struct Heir {
    mold: Mold,
    worker: Former,
    lanes: Vec<Rc<Lane>>,
}

impl Promotion {
    pub(crate) fn new(rule: &Refork) -> Promotion {
        Promotion {
            reforks: Reforks::new(rule.clone(), Instant::now()),
            candidate: None,
            heir: None,
            renewed: 0,
            leaving: Vec::new(),
        }
    }

    /// Whether the mold of this generation is one that was a worker, and is not ready.
    pub(super) fn is_heir(&self, generation: u32) -> bool {
        let heir = self.heir.as_ref();
        heir.is_some_and(|heir| heir.mold.generation == generation)
    }

    /// The molds that come or go beside the one that forks.
    pub(super) fn molds(&self) -> impl Iterator<Item = &Mold> {
        let heir = self.heir.iter().map(|heir| &heir.mold);
        heir.chain(self.leaving.iter().map(|leaving| &leaving.mold))
    }

    /// Whether a mold may come soon.
    pub(super) fn has_heir(&self) -> bool {
        self.heir.is_some()
    }

    /// The worker does not come so far as to be told to be the mold, for this reason.
    pub(super) fn candidate_fails(
        &mut self,
        now: Instant,
        log: &Log,
        worker: &Worker,
        cause: &str,
    ) {
        let cause: Field<'_> = ("cause", &cause);
        let fields = [&worker.identity()[..], &[cause]].concat();
        log.warn("worker does not become the mold", &fields);
        self.candidate = None;
        self.reforks.failed(now);
    }

    /// Whether all molds that were to end have ended.
    pub(super) fn nobody_leaves(&self) -> bool {
        self.leaving.is_empty()
    }

    /// The processes that are neither a worker nor the mold.
    pub(super) fn pids(&self) -> impl Iterator<Item = u32> {
        self.molds().map(|mold| mold.pid)
    }
}

impl Supervisor {
    /// Looks whether a worker is to become the mold, and goes on with what has begun. Called once a tick.
    pub(super) fn keep_sharing(&mut self, now: Instant) {
        self.kill_overdue_molds(now);
        let is_busy = |worker: &Worker| worker.is_promoted();
        if self.promotion.has_heir() || self.roster.iter().any(is_busy) {
            return;
        }
        // If there was one, it has ended in another way.
        self.promotion.candidate = None;
        let renewed = self.promotion.renewed;
        let serving = |worker: &&Worker| worker.stage == Stage::Ready;
        let outdated = self
            .roster
            .iter()
            .filter(serving)
            .find(|worker| worker.generation < renewed);
        if let Some(id) = outdated.map(|worker| worker.id) {
            self.replace(id, Reason::Outdated);
        } else {
            self.choose_heir(now);
        }
    }

    fn choose_heir(&mut self, now: Instant) {
        let Some(mold) = self.mold.as_ref().filter(|mold| mold.is_ready) else {
            return;
        };
        // Its successor is to serve beside all others.
        if self.room() == 0 {
            return;
        }
        // What a worker has leaked would be in all others from then on.
        let limit = self.server.settings.worker_memory.unwrap_or(u64::MAX) / 2;
        let candidates: Vec<_> = self
            .roster
            .iter()
            .filter(|worker| worker.stage == Stage::Ready && worker.leaves_for.is_none())
            .filter(|worker| worker.private() < limit)
            .map(|worker| Candidate {
                id: worker.id,
                requests: worker.begun_since_takeover(),
                private: worker.private(),
            })
            .collect();
        let reforks = &mut self.promotion.reforks;
        let Some(id) = reforks.choose(now, mold.generation, &candidates) else {
            return;
        };
        if self.replace(id, Reason::Promotion) {
            let chosen = candidates.iter().find(|candidate| candidate.id == id);
            self.promotion.candidate = chosen.map(|candidate| candidate.private);
        }
    }

    /// The worker holds nothing any more: it is told to be the mold.
    pub(super) fn promote(&mut self, id: WorkerId) {
        let Some(worker) = self.roster.remove(id) else {
            return;
        };
        let Some(pid) = worker.pid else {
            return;
        };
        self.figures_heard(Who::Worker(id), None);
        self.generation += 1;
        let next: Field<'_> = ("next_gen", &self.generation);
        let fields = [&worker.identity()[..], &[next]].concat();
        self.server
            .log
            .info("worker is to be the next mold", &fields);
        self.promotion.heir = Some(Heir {
            mold: Mold::promote(pid, worker.channel, self.generation),
            worker: Former {
                id,
                generation: worker.generation,
            },
            lanes: worker.lanes,
        });
    }

    /// The worker is the mold now, and the one before it ends.
    pub(super) fn take_over(&mut self) {
        let Some(Heir {
            mut mold, lanes, ..
        }) = self.promotion.heir.take()
        else {
            return;
        };
        let now = Instant::now();
        bury(&lanes);
        mold.is_ready = true;
        self.promotion.renewed = mold.generation;
        let private = self.promotion.candidate.take().unwrap_or_default();
        self.promotion.reforks.succeeded(now, private);
        for worker in self.roster.iter_mut() {
            worker.begun_before = worker.begun();
        }
        if let Some(old) = self.mold.replace(mold) {
            let deadline = now + self.server.settings.shutdown_timeout;
            self.dismiss(old, carat_wire::Kind::Drain, deadline);
        }
    }

    /// The server ends: the mold runs what the application wants to be run then, and ends before `deadline`.
    pub(super) fn dismiss_mold(&mut self, deadline: Instant) {
        if let Some(mold) = self.mold.take_if(|mold| mold.is_ready) {
            self.dismiss(mold, carat_wire::Kind::Bye, deadline);
        }
    }

    fn dismiss(&mut self, mold: Mold, farewell: carat_wire::Kind, deadline: Instant) {
        mold.channel
            .send(Vec::new(), |out| encode_signal(out, farewell));
        self.promotion.leaving.push(Leaving {
            mold,
            worker: None,
            deadline,
        });
    }

    /// The worker cannot be the mold, for this reason; `is_final` when no other of its generation can. It ends, the mold
    /// stays.
    pub(super) fn heir_failed(&mut self, text: &str, is_final: bool) {
        let Some(Heir {
            mold,
            worker,
            lanes,
        }) = self.promotion.heir.take()
        else {
            return;
        };
        let now = Instant::now();
        bury(&lanes);
        self.promotion.candidate = None;
        let fields: [Field<'_>; 5] = [
            ("worker", &worker.id),
            ("gen", &worker.generation),
            ("pid", &mold.pid),
            ("next_gen", &mold.generation),
            ("cause", &text),
        ];
        self.server
            .log
            .warn("worker does not become the mold", &fields);
        match self.mold.as_ref().filter(|_| is_final) {
            Some(mold) => self.promotion.reforks.refused(now, mold.generation),
            None => self.promotion.reforks.failed(now),
        }
        let deadline = now + self.server.settings.shutdown_timeout;
        self.promotion.leaving.push(Leaving {
            mold,
            worker: Some(worker),
            deadline,
        });
    }

    /// The worker that was to be the mold has closed its control socket.
    pub(super) fn heir_closed(&mut self) {
        let pid = self.promotion.heir.as_ref().map(|heir| heir.mold.pid);
        self.heir_failed("it has closed its control socket", false);
        if let Some(pid) = pid {
            signal_process(pid, Signal::KILL);
        }
    }

    /// Whether the process that is dead was a mold on its way up or down.
    pub(super) fn promoted_died(&mut self, pid: u32, cause: &Ended) -> bool {
        let heir = self.promotion.heir.as_ref();
        if heir.is_some_and(|heir| heir.mold.pid == pid) {
            self.heir_failed(&format!("it ended ({cause})"), false);
        }
        let mut leaving = self.promotion.leaving.iter();
        let Some(place) = leaving.position(|leaving| leaving.mold.pid == pid) else {
            return false;
        };
        let Leaving { mold, worker, .. } = self.promotion.leaving.swap_remove(place);
        let ended: [Field<'_>; 2] = [("pid", &pid), ("cause", cause)];
        let log = &self.server.log;
        if let Some(Former { id, generation }) = worker {
            let who: [Field<'_>; 2] = [("worker", &id), ("gen", &generation)];
            log.info("worker ended", &[who, ended].concat());
        } else {
            let who: [Field<'_>; 1] = [("gen", &mold.generation)];
            log.info("mold ended", &[&who[..], &ended].concat());
        }
        true
    }

    /// The molds that have not ended with the server in time are killed next.
    pub(super) fn tell_unfinished_molds(&self) {
        let molds = self.promotion.leaving.iter();
        for Leaving { mold, .. } in molds.filter(|leaving| leaving.worker.is_none()) {
            let fields: [Field<'_>; 2] = [("gen", &mold.generation), ("pid", &mold.pid)];
            let message = "mold is killed: it has not run its at_exit blocks in time";
            self.server.log.warn(message, &fields);
        }
    }

    /// No worker is to become the mold any more: the server ends.
    pub(super) fn forgo_promotion(&mut self) {
        for worker in self.roster.iter_mut() {
            worker.forgo_promotion();
        }
    }

    pub(super) fn kill_overdue_molds(&mut self, now: Instant) {
        let limit = self.server.settings.boot_timeout;
        let heir = self.promotion.heir.as_ref();
        if let Some(late) = heir.filter(|heir| now.duration_since(heir.mold.started) > limit) {
            signal_process(late.mold.pid, Signal::KILL);
            self.heir_failed(&format!("not ready within {limit:?} (boot_timeout)"), false);
        }
        for leaving in &self.promotion.leaving {
            if now >= leaving.deadline {
                signal_process(leaving.mold.pid, Signal::KILL);
            }
        }
    }
}

/// Nothing more comes on these lanes, whoever still holds them open.
fn bury(lanes: &[Rc<Lane>]) {
    for lane in lanes {
        lane.worker_died();
    }
}
