use std::time::Duration;

use carat_wire::{FullReason, HasteReason};
use serde::{Serialize, Serializer};

/// How many reasons for a full garbage collection there are, and for one that does not wait.
const REASONS: usize = FullReason::ALL.len();
const HASTES: usize = HasteReason::ALL.len();

/// The full garbage collections of all workers so far, by what they delayed.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CollectionTotals {
    /// Collections of workers that served no request.
    pub between_requests: CollectionGroup,
    /// Collections that the edge ordered although requests of the worker ran.
    pub beside_requests: CollectionGroup,
    /// Collections that Ruby began by itself while a request ran.
    pub within_requests: CollectionGroup,
    /// The last of these groups by why they did not wait.
    pub haste: HasteCounts,
    /// Requests that waited for a collection.
    pub waited_requests: u64,
    /// Rests that have ended.
    pub rests: u64,
    /// The seconds that these rests lasted, added up.
    pub rest_seconds: f64,
}

/// Collections, in all and by why Ruby wanted them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CollectionGroup {
    /// All of them.
    #[serde(flatten)]
    pub all: CollectionCount,
    reasons: ReasonCounts,
}

/// A number of collections.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct CollectionCount {
    /// How many there were.
    pub count: u64,
    /// How long they took together.
    pub seconds: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct ReasonCounts([CollectionCount; REASONS]);

/// How many collections there were for each reason not to wait.
#[derive(Debug, Clone, Copy, Default)]
pub struct HasteCounts([u64; HASTES]);

impl CollectionCount {
    fn add(&mut self, count: u64, took: Duration) {
        self.count += count;
        self.seconds += took.as_secs_f64();
    }
}

impl CollectionGroup {
    pub(super) fn add(&mut self, count: u64, took: Duration, reason: FullReason) {
        self.all.add(count, took);
        self.reasons.0[reason as usize].add(count, took);
    }

    /// The collections for each reason, also those that there were none for.
    pub fn by_reason(&self) -> impl Iterator<Item = (FullReason, CollectionCount)> {
        FullReason::ALL.into_iter().zip(self.reasons.0)
    }
}

impl HasteCounts {
    pub(super) fn add(&mut self, count: u64, reason: HasteReason) {
        self.0[reason as usize] += count;
    }

    /// The number for each reason, also those that there were none for.
    pub fn by_reason(&self) -> impl Iterator<Item = (HasteReason, u64)> {
        HasteReason::ALL.into_iter().zip(self.0)
    }
}

/// The reasons by their names, without those that there were no collections for.
impl Serialize for ReasonCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = self.0.map(|it| it.count);
        serializer.collect_map(named(FullReason::ALL.map(FullReason::name), counts))
    }
}

/// The reasons by their names, without those that there were no collections for.
impl Serialize for HasteCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(named(HasteReason::ALL.map(HasteReason::name), self.0))
    }
}

fn named<const N: usize>(
    names: [&'static str; N],
    counts: [u64; N],
) -> impl Iterator<Item = (&'static str, u64)> {
    names
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
}

impl CollectionTotals {
    /// Counts a rest that is over, and the time that it lasted.
    pub(super) fn end_rest(&mut self, lasted: Duration) {
        self.rests += 1;
        self.rest_seconds += lasted.as_secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_reasons_that_there_were() {
        let mut totals = CollectionTotals::default();
        let took = Duration::from_millis(500);
        (totals.within_requests).add(2, took, FullReason::Oldgen);
        totals.within_requests.add(1, took, FullReason::Force);
        totals.haste.add(3, HasteReason::SmallHeap);
        let report = serde_json::to_value(totals).expect("plain");
        let within = serde_json::json!(
            { "count": 3, "seconds": 1.0, "reasons": { "oldgen": 2, "force": 1 } }
        );
        assert_eq!(report["within_requests"], within);
        assert_eq!(report["between_requests"]["reasons"], serde_json::json!({}));
        assert_eq!(report["haste"], serde_json::json!({ "small_heap": 3 }));
    }
}
