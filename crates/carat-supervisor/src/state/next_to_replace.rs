//! The choice of the worker that is replaced next, for every reason, and of the time when it ends.
//!
//! A worker that is to be replaced is marked with the reason, serves until its successor serves, and then drains. Only
//! one worker at a time waits for its successor. The events that mark a worker:
//!
//! | when | reason | worker |
//! |---|---|---|
//! | each tick | requests, age | the first that is due |
//! | each tick | restart, refork | the first of an older generation |
//! | memory was read | `worker_memory`, `memory` | the one with the most private memory |
//! | it lost descriptors again | open files | that one |
//! | it can be the mold | promotion | that one |
//!
//! A worker with too much memory collects its garbage first, if it can be told to. It is replaced if the next reading
//! shows no less memory.
//!
//! The coldest worker (see `coldest`) ends without a successor in three cases: it is idle, fewer workers are wanted, or
//! a second mold needs room.

use std::time::Instant;

use carat_policy::{
    ByteSize, MemoryTrend, ReplacementAdvice, ReplacementBackoff, ReplacementReason,
};

use super::processes::Processes;
use super::processes::worker::Worker;
use super::processes::worker_collection::{CollectionAdvice, WorkerCollection};
use super::processes::workers::Workers;
use super::reaction::Reaction;
use crate::command::{Command, WorkerCommand};
use crate::log_line::LogLine;
use carat_log::WorkerId;

/// A worker that exceeds its limit after fewer requests did not grow: its successor would soon exceed the limit, too.
const LEAST_REQUESTS: u64 = 16;

/// Chooses the workers that are replaced.
#[derive(Debug, Default)]
pub(super) struct NextToReplace {
    /// The pauses between replacements of workers that exceed `worker_memory`.
    worker_backoff: ReplacementBackoff,
    /// The pauses between replacements of a single worker that exceeds the memory budget.
    budget_backoff: ReplacementBackoff,
}

/// Marks a worker for replacement: it serves until enough other workers serve. False if the worker does not serve, or
/// has to wait for other workers that are being replaced.
pub(super) fn mark(
    workers: &mut Workers,
    id: WorkerId,
    reason: ReplacementReason,
    reaction: &mut Reaction,
) -> bool {
    if !workers.retirements().allow(&reason, workers.wanted) {
        return false;
    }
    let Some(worker) = workers.get_mut(id).filter(|worker| worker.is_ready()) else {
        return false;
    };
    worker.replacement = Some(reason);
    let line = worker.identify(LogLine::info("worker will be replaced"));
    let line = line.of_kind(reason.kind()).text("reason", reason);
    let sizes = reason.sizes().into_iter();
    reaction.log(sizes.fold(line, |line, (name, size)| line.text(name, size)));
    true
}

/// Marks a worker that has reached `worker_requests` or `worker_age`.
pub(super) fn mark_due(workers: &mut Workers, reaction: &mut Reaction) {
    let limits = reaction.limits.recycle;
    let due = workers.ready().find_map(|worker| {
        let age = worker.age(reaction.now);
        let reason = limits.reason(worker.id.serial, worker.requests, age)?;
        Some((worker.id, reason))
    });
    if let Some((id, reason)) = due {
        mark(workers, id, reason, reaction);
    }
}

/// Marks a worker of a generation before this one. False if there is none.
pub(super) fn mark_outdated(
    workers: &mut Workers,
    oldest: u32,
    reason: ReplacementReason,
    reaction: &mut Reaction,
) -> bool {
    let outdated = workers.ready().find(|worker| worker.generation < oldest);
    let Some(id) = outdated.map(|worker| worker.id) else {
        return false;
    };
    mark(workers, id, reason, reaction);
    true
}

/// Notes that a worker could not open the descriptors of a request. The worker has collected its garbage since. If that
/// happens a second time, the application leaks files, and the worker is replaced.
pub(super) fn mark_leaky(workers: &mut Workers, id: WorkerId, reaction: &mut Reaction) {
    let Some(worker) = workers.get_mut(id) else {
        return;
    };
    if worker.lost_descriptors {
        mark(workers, id, ReplacementReason::OpenFiles, reaction);
    } else {
        worker.lost_descriptors = true;
        let line = LogLine::warn("worker has too many files open to receive a request");
        reaction.log(worker.identify(line));
    }
}

/// Drains the worker that is to be replaced: when its successor serves, or at once if there is no memory for a
/// successor beside it. In the second case, a worker that was to become the mold is not drained but returned, to stay a
/// worker: no other would serve in its place.
pub(super) fn succeed<'a>(
    processes: &'a mut Processes,
    reaction: &mut Reaction,
) -> Option<&'a mut Worker> {
    let is_short = processes.workers.serving() < processes.workers.wanted;
    if is_short && !processes.is_full() {
        return None;
    }
    let mut workers = processes.workers.iter_mut();
    let worker = workers.find(|worker| worker.replacement.is_some() && worker.is_ready())?;
    if is_short && worker.is_promoted() {
        return Some(worker);
    }
    worker.retire("worker is replaced", reaction);
    None
}

/// The worker whose end costs least: the one with the fewest tunnels; among several, the one that has been idle for
/// longest.
pub(super) fn coldest(workers: &Workers) -> Option<&Worker> {
    let staying = workers.ready().filter(|worker| worker.stays());
    staying.max_by_key(|worker| worker.coldness())
}

/// Ends the coldest worker to make room for a second mold. From then on at most `most_workers` workers may run. Returns
/// false if only one worker serves. Ends none, and returns true, while another process is ending.
pub(super) fn end_for_room(
    processes: &mut Processes,
    most_workers: &mut u32,
    message: &'static str,
    reaction: &mut Reaction,
) -> bool {
    if processes.is_anyone_leaving() {
        return true;
    }
    let serving = processes.workers.serving();
    let coldest = coldest(&processes.workers).filter(|_| serving > 1);
    let Some(id) = coldest.map(|worker| worker.id) else {
        return false;
    };
    *most_workers = serving - 1;
    processes
        .workers
        .with(id, |it| it.retire(message, reaction));
    true
}

impl NextToReplace {
    /// Marks the largest worker if it exceeds `worker_memory`, or if all processes together exceed the memory budget.
    /// `at` is when memory was read.
    pub(super) fn mark_heavy(
        &mut self,
        processes: &mut Processes,
        at: Instant,
        reaction: &mut Reaction,
    ) {
        let totals = processes.memory.totals;
        if totals.is_some_and(|it| !it.budget.is_over(it.used.bytes)) {
            self.budget_backoff.recover(at);
        }
        let known = processes.workers.ready();
        let known = known.filter_map(|worker| Some((worker.id, worker.memory?.private)));
        let largest = known.max_by_key(|(_, private)| private.bytes);
        let Some((id, private)) = largest.filter(|_| allows_heavy(&processes.workers)) else {
            return;
        };
        if !private.is_too_much() {
            self.worker_backoff.recover(reaction.now);
        } else if !collects_first(&mut processes.workers, id, at, reaction) {
            self.mark_large(&mut processes.workers, id, &private, reaction);
        }
        if allows_heavy(&processes.workers) {
            self.relieve(processes, id, at, reaction);
        }
    }

    fn mark_large(
        &mut self,
        workers: &mut Workers,
        id: WorkerId,
        private: &MemoryTrend,
        reaction: &mut Reaction,
    ) {
        let Some(limit) = reaction.limits.worker_memory else {
            return;
        };
        let (limit, bytes) = (ByteSize(limit), ByteSize(private.bytes));
        let requests = workers.get(id).map_or(0, |worker| worker.requests);
        let advice = if private.began_too_much() || requests < LEAST_REQUESTS {
            self.worker_backoff.advise(reaction.now)
        } else {
            ReplacementAdvice::Replace
        };
        match advice {
            ReplacementAdvice::Replace => {
                let private = bytes;
                mark(
                    workers,
                    id,
                    ReplacementReason::Memory { private, limit },
                    reaction,
                );
            }
            ReplacementAdvice::Warn => {
                let message = "workers soon exceed worker_memory: it is too small";
                let line = LogLine::warn(message).text("private", bytes);
                reaction.log(line.text("limit", limit));
            }
            ReplacementAdvice::Wait => {}
        }
    }

    /// Marks the largest worker because all processes together exceed the budget. If there are several
    /// workers, it ends without a successor until there is room. A single worker is replaced if that helps. No worker
    /// is marked if the end of the draining ones frees enough.
    fn relieve(
        &mut self,
        processes: &mut Processes,
        largest: WorkerId,
        at: Instant,
        reaction: &mut Reaction,
    ) {
        if processes.molds.previous.is_some() || !processes.molds.leaving.is_empty() {
            // A mold that nobody needs ends first.
            return;
        }
        let workers = &mut processes.workers;
        let totals = processes.memory.totals;
        let Some(totals) = totals.filter(|totals| totals.used.is_too_much()) else {
            return;
        };
        let left = totals.used.bytes.saturating_sub(workers.leaving_bytes());
        if workers.booting() > 0 || !totals.budget.is_over(left) {
            return;
        }
        if collects_first(workers, largest, at, reaction) {
            return;
        }
        let advice = if workers.serving() > 1 {
            ReplacementAdvice::Replace
        } else {
            self.budget_backoff.advise(reaction.now)
        };
        match advice {
            ReplacementAdvice::Replace => {
                let used = ByteSize(totals.used.bytes);
                let limit = ByteSize(totals.budget.limit);
                mark(
                    workers,
                    largest,
                    ReplacementReason::Budget { used, limit },
                    reaction,
                );
                let staying = workers.staying();
                processes.memory.relieved(staying, reaction.now);
            }
            ReplacementAdvice::Warn => {
                let line = LogLine::warn("one worker alone exceeds the memory budget (memory)");
                reaction.log(totals.describe(line));
            }
            ReplacementAdvice::Wait => {}
        }
    }
}

/// Whether a worker whose memory is too large collects its garbage, or has just done so. The next reading may show that
/// it need not be replaced.
fn collects_first(
    workers: &mut Workers,
    id: WorkerId,
    read_at: Instant,
    reaction: &mut Reaction,
) -> bool {
    let Some(worker) = workers.get_mut(id).filter(|worker| worker.collects) else {
        return false;
    };
    match worker.collection.advise(read_at, reaction.now) {
        CollectionAdvice::Collect => {
            worker.collection = WorkerCollection::Ordered(reaction.now);
            reaction.push(Command::Worker(WorkerCommand::Collect(id)));
            true
        }
        CollectionAdvice::Wait => true,
        CollectionAdvice::Replace => false,
    }
}

fn allows_heavy(workers: &Workers) -> bool {
    workers.retirements().allow_heavy(workers.wanted)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::state::tests::reaction;

    /// Workers that serve, each of which has been idle for a second longer than the one before it.
    fn serving(count: u32) -> Workers {
        let mut workers = Workers::wanting(count);
        for idle in 0..count {
            let mut worker = Worker::forked(workers.next_id(), 1, &reaction());
            worker.serve(&mut reaction());
            worker.idle = Duration::from_secs(idle.into());
            workers.insert(worker);
        }
        workers
    }

    #[test]
    fn the_coldest_worker_has_no_tunnel_and_was_idle_for_longest() {
        let mut workers = serving(3);
        let ids = workers.ids();
        assert_eq!(coldest(&workers).map(|worker| worker.id), Some(ids[2]));
        workers.with(ids[2], |worker| worker.tunnels = 1);
        assert_eq!(coldest(&workers).map(|worker| worker.id), Some(ids[1]));
    }

    #[test]
    fn one_worker_at_a_time_waits_for_its_successor() {
        let mut workers = serving(2);
        let ids = workers.ids();
        let restart = ReplacementReason::Restart;
        assert!(mark(&mut workers, ids[0], restart, &mut reaction()));
        assert!(!mark(&mut workers, ids[1], restart, &mut reaction()));
        workers.with(ids[0], |worker| worker.retire("it drains", &mut reaction()));
        assert!(mark(&mut workers, ids[1], restart, &mut reaction()));
    }

    #[test]
    fn a_worker_that_loses_descriptors_once_is_not_replaced() {
        let mut workers = serving(1);
        let id = workers.ids()[0];
        let mut replacement_after_loss = || {
            mark_leaky(&mut workers, id, &mut reaction());
            workers.get(id).and_then(|worker| worker.replacement)
        };
        assert_eq!(replacement_after_loss(), None);
        assert_eq!(replacement_after_loss(), Some(ReplacementReason::OpenFiles));
    }
}
