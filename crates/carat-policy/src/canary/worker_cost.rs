use std::time::Duration;

use super::latency_histogram::LatencyHistogram;
use super::rank_test::rank_deviation;

/// Requests of a worker that share one figure: what a worker uses beside its requests hardly counts then.
const BATCH: u64 = 10;

/// A difference of ranks that chance makes in one of 1000 comparisons, in standard deviations.
const DEVIATION: f64 = 3.09;

/// A median that grows by less than one part of so many is no reason to go back,
const TOLERATED_PART: u64 = 5;

/// nor is one that grows by less than this: 200 µs of CPU time a request, 100 objects a request, and 8 MiB.
const TOLERATED: [u64; 3] = [200, 100, 8 * 1024];

/// What a worker has used so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerCost {
    /// Its process id.
    pub pid: u32,
    /// Requests that it has served.
    pub requests: u64,
    /// CPU time of the process.
    pub cpu: Duration,
    /// Objects that it has allocated.
    pub objects: u64,
    /// Private memory in bytes, if that was read.
    pub private: Option<u64>,
}

/// What the workers of one code used: microseconds of CPU time a request, objects a request, and KiB of private memory.
#[derive(Debug, Default)]
pub(super) struct CostSample([LatencyHistogram; 3]);

/// The figures of a [`CostSample`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Cpu,
    Objects,
    Private,
}

impl CostSample {
    /// Adds what a worker used since it was seen before. Returns from where its next figures count.
    pub(super) fn add(&mut self, before: &WorkerCost, now: WorkerCost) -> WorkerCost {
        let [cpu, objects, private] = &mut self.0;
        if let Some(bytes) = now.private {
            private.count(bytes / 1024);
        }
        let Some(requests) = now.requests.checked_sub(before.requests) else {
            return now;
        };
        if requests < BATCH {
            return *before;
        }
        let used = now.cpu.saturating_sub(before.cpu).as_micros();
        cpu.count(u64::try_from(used).unwrap_or(u64::MAX) / requests);
        objects.count(now.objects.saturating_sub(before.objects) / requests);
        now
    }

    /// How many figures there are. Memory counts only where it can be read.
    pub(super) fn total(&self) -> u64 {
        let [cpu, _, private] = &self.0;
        let private = private.total();
        cpu.total()
            .min(if private == 0 { u64::MAX } else { private })
    }

    /// The median of a figure: microseconds, objects, or KiB.
    pub(super) fn median(&self, measure: Measure) -> Option<u64> {
        self.0[measure as usize].middle()
    }

    /// Whether this code uses more than the other.
    pub(super) fn exceeds(&self, other: &CostSample, measure: Measure) -> bool {
        let index = measure as usize;
        let medians = (other.median(measure), self.median(measure));
        let (Some(old), Some(new)) = medians else {
            return false;
        };
        let most = old.saturating_add(TOLERATED[index].max(old / TOLERATED_PART));
        let [first, second] = [other, self].map(|it| it.0[index].counts());
        new > most && rank_deviation(first, second) > DEVIATION
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(requests: u64, millis: u64) -> WorkerCost {
        WorkerCost {
            pid: 1,
            requests,
            cpu: Duration::from_millis(millis),
            objects: requests * 30,
            private: None,
        }
    }

    #[test]
    fn few_requests_wait_until_there_are_more() {
        let mut sample = CostSample::default();
        let first = cost(100, 1000);
        assert_eq!(sample.add(&first, cost(109, 9000)), first);
        assert_eq!(sample.total(), 0);
        assert_eq!(sample.add(&first, cost(120, 1100)), cost(120, 1100));
        assert_eq!(sample.median(Measure::Objects), Some(30));
        assert!((5000..=5400).contains(&sample.median(Measure::Cpu).expect("one")));
    }

    #[test]
    fn a_process_id_that_another_worker_got_is_no_figure() {
        let mut sample = CostSample::default();
        assert_eq!(sample.add(&cost(100, 1000), cost(5, 1)), cost(5, 1));
        assert_eq!(sample.total(), 0);
    }

    #[test]
    fn memory_that_cannot_be_read_is_not_waited_for() {
        let mut sample = CostSample::default();
        sample.add(&cost(0, 0), cost(10, 5));
        assert_eq!(sample.total(), 1);
        let private = Some(64 << 20);
        sample.add(
            &cost(10, 5),
            WorkerCost {
                private,
                ..cost(11, 5)
            },
        );
        assert_eq!(sample.total(), 1);
        assert!(sample.median(Measure::Private) >= Some(64 << 10));
    }
}
