//! The fibers that may run, in the order in which they do: round by round. Between two rounds, descriptors and timers are
//! checked.

use std::collections::VecDeque;

use crate::handle::Handle;
use crate::waits::WaitId;

/// How many fibers may jump the queue in a small round. Without a bound, two fibers that wake each other would starve the
/// rest.
const JUMP_LIMIT: usize = 64;

/// A fiber that may run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadyFiber<H> {
    /// The wait of a fiber has ended.
    Wait(WaitId),
    /// A fiber was unblocked before it blocked, which it is about to do.
    Early(H),
    /// A fiber switched to another one by itself, with `Fiber#raise` or `Fiber#kill`.
    Stranded(H),
}

/// The queue of the fibers that may run.
#[derive(Default)]
pub(crate) struct ReadyQueue<H> {
    ready: VecDeque<ReadyFiber<H>>,
    /// How many fibers of the present round have not run yet; they are in front.
    round: usize,
    /// How many of these have jumped the queue; they come first.
    jumped: usize,
    /// How many fibers may still jump.
    jumps_left: usize,
}

impl<H: Handle> ReadyQueue<H> {
    /// Begins a round. It consists of the fibers that are in the queue now; later ones run in the next.
    pub(crate) fn begin_round(&mut self) {
        self.round = self.ready.len();
        self.jumped = 0;
        self.jumps_left = self.round.max(JUMP_LIMIT);
    }

    pub(crate) fn push(&mut self, ready: ReadyFiber<H>) {
        self.ready.push_back(ready);
    }

    /// Queues a fiber that another one has unblocked before the others of this round. They might take what it was
    /// woken for (a lock, a connection of a pool), and it would have to wait again.
    pub(crate) fn push_first(&mut self, ready: ReadyFiber<H>) {
        if self.jumps_left == 0 {
            return self.push(ready);
        }
        self.jumps_left -= 1;
        self.ready.insert(self.jumped, ready);
        self.jumped += 1;
        self.round += 1;
    }

    /// How many fibers have jumped the queue and have not run yet.
    pub(crate) fn jumped(&self) -> usize {
        self.jumped
    }

    /// The next fiber of this round.
    pub(crate) fn pop(&mut self) -> Option<ReadyFiber<H>> {
        self.round = self.round.checked_sub(1)?;
        self.jumped = self.jumped.saturating_sub(1);
        self.ready.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Calls `see` with every handle.
    pub(crate) fn each_handle(&self, see: &mut impl FnMut(H)) {
        for ready in &self.ready {
            if let ReadyFiber::Early(fiber) | ReadyFiber::Stranded(fiber) = ready {
                see(*fiber);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn popped(queue: &mut ReadyQueue<u32>) -> Vec<u32> {
        let mut popped = Vec::new();
        while let Some(ReadyFiber::Stranded(fiber)) = queue.pop() {
            popped.push(fiber);
        }
        popped
    }

    #[test]
    fn who_joins_during_a_round_runs_in_the_next() {
        let mut queue = ReadyQueue::default();
        queue.push(ReadyFiber::Stranded(1));
        queue.begin_round();
        queue.push(ReadyFiber::Stranded(2));
        assert_eq!(popped(&mut queue), [1]);
        queue.begin_round();
        assert_eq!(popped(&mut queue), [2]);
        assert!(queue.is_empty());
    }

    #[test]
    fn unblocked_fibers_run_first_and_in_their_own_order() {
        let mut queue = ReadyQueue::default();
        for fiber in [1, 2] {
            queue.push(ReadyFiber::Stranded(fiber));
        }
        queue.begin_round();
        queue.push_first(ReadyFiber::Stranded(8));
        queue.push_first(ReadyFiber::Stranded(9));
        assert_eq!(queue.jumped(), 2);
        assert_eq!(popped(&mut queue), [8, 9, 1, 2]);
    }

    #[test]
    fn fibers_that_wake_each_other_starve_nobody() {
        let mut queue = ReadyQueue::default();
        queue.push(ReadyFiber::Stranded(0));
        queue.begin_round();
        let mut runs = 0;
        queue.push_first(ReadyFiber::Stranded(1));
        while queue.pop() != Some(ReadyFiber::Stranded(0)) {
            runs += 1;
            queue.push_first(ReadyFiber::Stranded(1));
        }
        assert_eq!(runs, JUMP_LIMIT);
    }
}
