use std::collections::{BTreeMap, BTreeSet};

/// The rests of the workers, as they are seen whenever the edge waits. All times are in microseconds.
#[derive(Debug, Default)]
pub(super) struct RestWatch {
    /// The workers that rest, by serial number, and since when.
    pub(super) since: BTreeMap<u64, u64>,
    /// The most workers that have rested at a time.
    pub(super) most: usize,
    /// The workers that rested or took requests when they were last counted.
    workers: usize,
    /// When a worker was last seen to rest.
    gap_since: u64,
    /// The longest time without a rest that has ended since the last tick.
    longest_gap: u64,
    /// Whether the edge has stood still since the last tick: then the next one reads no queue time.
    is_late: bool,
}

impl RestWatch {
    /// The larger number of workers, of now and of the last call.
    pub(super) fn most_workers(&mut self, now: usize) -> usize {
        std::mem::replace(&mut self.workers, now).max(now)
    }

    /// Whether one of these workers has begun to rest since `note` was last called.
    pub(super) fn begins(&self, resting: &BTreeSet<u64>) -> bool {
        resting.iter().any(|it| !self.since.contains_key(it))
    }

    /// Notes which workers rest now.
    pub(super) fn note(&mut self, resting: &BTreeSet<u64>, now: u64) {
        if self.since.is_empty() && !resting.is_empty() {
            self.longest_gap = self.longest_gap.max(now - self.gap_since);
        }
        if !resting.is_empty() {
            self.gap_since = now;
        }
        let since = |worker| self.since.get(worker).copied().unwrap_or(now);
        self.since = resting.iter().map(|it| (*it, since(it))).collect();
        self.most = self.most.max(resting.len());
    }

    /// The edge stood still.
    pub(super) fn note_pause(&mut self) {
        self.is_late = true;
    }

    /// The longest time without a rest since the last call, with all of a time that began before.
    pub(super) fn take_longest_gap(&mut self, now: u64) -> u64 {
        let longest = if self.since.is_empty() {
            self.longest_gap.max(now - self.gap_since)
        } else {
            self.longest_gap
        };
        let is_kept = std::mem::take(&mut self.is_late);
        self.longest_gap = if is_kept { longest } else { 0 };
        longest
    }
}
