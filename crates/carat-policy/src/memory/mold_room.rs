//! How to make room for a second mold: which processes end, in which order, and when that would not help.

/// The memory that a server may free while a second mold loads the application.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoldRoom {
    /// The private bytes of each worker that serves, in the order in which they end.
    pub workers: Vec<u64>,
    /// Private bytes of the further processes of the application that would start again.
    pub processes: u64,
    /// Whether the queue may hold the requests while no worker runs.
    pub may_hold: bool,
}

/// The next step to make room for a second mold. A step is taken only if all steps together free enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoldRoomStep {
    /// A worker ends; others still run.
    EndWorker,
    /// The further processes of the application finish their work and end.
    EndProcesses,
    /// The last worker ends, and the queue holds the requests.
    HoldRequests,
    /// The restart is refused, because there is no room for a second mold; nothing ends in vain.
    Refuse,
}

impl MoldRoom {
    /// The step to take when this many bytes are missing.
    pub fn next_step(&self, missing: u64) -> MoldRoomStep {
        match self.workers.len() {
            _ if self.shortage(missing) > 0 => MoldRoomStep::Refuse,
            2.. => MoldRoomStep::EndWorker,
            _ if self.processes > 0 => MoldRoomStep::EndProcesses,
            1 if self.may_hold => MoldRoomStep::HoldRequests,
            _ => MoldRoomStep::Refuse,
        }
    }

    /// The bytes that are still missing after all steps.
    pub fn shortage(&self, missing: u64) -> u64 {
        let last = self.workers.last().copied().unwrap_or(0);
        let kept = if self.may_hold { 0 } else { last };
        self.shortage_without_workers(missing.saturating_add(kept))
    }

    /// The bytes that are missing even after all workers and further processes have ended.
    pub fn shortage_without_workers(&self, missing: u64) -> u64 {
        let all: u64 = self.workers.iter().sum();
        missing.saturating_sub(all.saturating_add(self.processes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(workers: &[u64], processes: u64, may_hold: bool) -> MoldRoom {
        MoldRoom {
            workers: workers.to_vec(),
            processes,
            may_hold,
        }
    }

    #[test]
    fn workers_end_before_processes_and_the_last_worker_comes_last() {
        let steps = [
            (room(&[10, 20], 30, true), MoldRoomStep::EndWorker),
            (room(&[20], 30, true), MoldRoomStep::EndProcesses),
            (room(&[20], 0, true), MoldRoomStep::HoldRequests),
            (room(&[], 0, true), MoldRoomStep::Refuse),
            (room(&[], 30, true), MoldRoomStep::EndProcesses),
        ];
        for (room, step) in steps {
            assert_eq!(room.next_step(15), step, "{room:?}");
        }
    }

    #[test]
    fn nothing_ends_when_all_of_it_would_not_be_enough() {
        assert_eq!(
            room(&[10, 20], 30, true).next_step(60),
            MoldRoomStep::EndWorker
        );
        assert_eq!(
            room(&[10, 20], 30, true).next_step(61),
            MoldRoomStep::Refuse
        );
        assert_eq!(
            room(&[10, 20], 30, false).next_step(40),
            MoldRoomStep::EndWorker
        );
        assert_eq!(
            room(&[10, 20], 30, false).next_step(41),
            MoldRoomStep::Refuse
        );
        assert_eq!(room(&[20], 0, false).next_step(1), MoldRoomStep::Refuse);
    }
}
