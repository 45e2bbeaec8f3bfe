//! How the number of workers follows the load.

use carat_policy::Demand;

use super::next_to_replace::coldest;
use super::processes::Processes;
use super::processes::worker::Worker;
use super::processes::workers::Workers;
use super::reaction::Reaction;
use crate::log_line::LogLine;
use crate::reading::Tick;

/// Asks for more workers when requests wait.
pub(super) fn grow(processes: &mut Processes, tick: &Tick, reaction: &mut Reaction) {
    let workers = &processes.workers;
    let demand = Demand {
        queue_time: tick.queue_time,
        waiting: tick.waiting,
        slots: reaction.limits.slots.into(),
        booting: workers.booting() + workers.missing(),
    };
    let affordable = workers.staying().saturating_add(processes.busy_room());
    let asked = reaction.limits.elastic.grown(workers.wanted, &demand);
    let wanted = asked.min(affordable.max(workers.wanted));
    if wanted > workers.wanted {
        processes.workers.wanted = wanted;
        let line = LogLine::info("more workers").number("workers", wanted);
        let line = line.number("waiting", tick.waiting as u64);
        reaction.log(line.milliseconds("queue_ms", tick.queue_time));
    }
}

/// Lowers the wanted number by one when a worker has been idle too long, and stops that worker if more than the wanted
/// number are running.
pub(super) fn shrink(workers: &mut Workers, reaction: &mut Reaction) {
    // A worker that is booting cannot yet take the place of one that ends.
    if !reaction.limits.elastic.may_shrink(workers.wanted) || workers.booting() > 0 {
        return;
    }
    let limit = reaction.limits.worker_idle_timeout;
    // A worker with tunnels is in use, however long ago they began.
    let is_idle = |worker: &&Worker| worker.tunnels == 0 && worker.idle >= limit;
    let Some(id) = coldest(workers).filter(is_idle).map(|it| it.id) else {
        return;
    };
    workers.wanted -= 1;
    if workers.staying() > workers.wanted {
        workers.with(id, |it| it.retire("idle worker ends", reaction));
    } else {
        let line = LogLine::info("fewer workers");
        reaction.log(line.number("wanted", workers.wanted));
    }
}

/// Ends the workers that are too many after the bounds were lowered, the coldest first.
pub(super) fn retire_surplus(workers: &mut Workers, reaction: &mut Reaction) {
    while workers.serving() > workers.wanted {
        let Some(id) = coldest(workers).map(|worker| worker.id) else {
            return;
        };
        workers.with(id, |it| it.retire("surplus worker ends", reaction));
    }
}

/// Lowers the wanted number of workers to what the remaining clients can use: no new client comes.
pub(super) fn follow_clients(workers: &mut Workers, clients: usize, reaction: &Reaction) {
    let needed = clients.div_ceil(reaction.limits.slots.max(1).into()).max(1);
    let needed = u32::try_from(needed).unwrap_or(u32::MAX);
    workers.wanted = workers.wanted.min(needed);
}
