use std::collections::VecDeque;

use carat_dispatch::{PoolReport, RequestFigures};

/// The samples of a mean: 15 seconds, at ten a second.
const SAMPLES_LIMIT: usize = 150;

/// The requests of the application in the last seconds, waiting or running.
pub(super) struct RecentLoad {
    samples: VecDeque<LoadSample>,
    /// How many requests a worker runs at once.
    slots: u16,
}

/// The requests at one moment.
pub(super) struct LoadSample {
    /// All requests. Those of a pool that has a share of the threads count at most as many as its share: a further worker
    /// or machine is not for requests that wait while threads are free.
    requests: usize,
    /// The requests of each pool.
    pools: Vec<usize>,
}

impl LoadSample {
    /// The requests now.
    pub(super) fn of(figures: RequestFigures<'_>) -> LoadSample {
        let pools = figures.pools();
        if pools.is_empty() {
            return LoadSample {
                requests: figures.running() + figures.waiting(),
                pools: Vec::new(),
            };
        }
        LoadSample {
            requests: pools.iter().map(counted).sum(),
            pools: pools.iter().map(PoolReport::requests).collect(),
        }
    }
}

fn counted(pool: &PoolReport) -> usize {
    pool.requests().min(pool.threads.unwrap_or(usize::MAX))
}

impl RecentLoad {
    /// The load of an application that nobody has asked, whose workers run this many requests each.
    pub(super) fn new(slots: u16) -> RecentLoad {
        RecentLoad {
            samples: VecDeque::with_capacity(SAMPLES_LIMIT),
            slots,
        }
    }

    /// Workers of newer code run this many requests each.
    pub(super) fn adopt(&mut self, slots: u16) {
        self.slots = slots;
    }

    /// Adds a sample, and drops the oldest when there are enough.
    pub(super) fn add(&mut self, sample: LoadSample) {
        if self.samples.len() == SAMPLES_LIMIT {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }

    /// The share of the threads of this many workers that was busy. Above 1, all were busy, and requests waited: twice as
    /// many threads are needed at 2.
    pub(super) fn utilization(&self, workers: usize) -> f64 {
        self.share(self.threads(workers), |sample| sample.requests)
    }

    /// The share of the threads of a pool that was busy; `own` is how many it may have at most.
    pub(super) fn pool_utilization(&self, pool: usize, own: Option<usize>, workers: usize) -> f64 {
        let all = self.threads(workers);
        let threads = own.map_or(all, |own| own.min(all));
        self.share(threads, |sample| {
            sample.pools.get(pool).copied().unwrap_or_default()
        })
    }

    fn threads(&self, workers: usize) -> usize {
        usize::from(self.slots) * workers
    }

    #[expect(clippy::cast_precision_loss, reason = "a share is rounded")]
    fn share(&self, threads: usize, requests: impl Fn(&LoadSample) -> usize) -> f64 {
        let sum: usize = self.samples.iter().map(requests).sum();
        let most = threads * self.samples.len();
        if most == 0 {
            0.0
        } else {
            sum as f64 / most as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(samples: impl IntoIterator<Item = usize>) -> RecentLoad {
        let mut load = RecentLoad::new(3);
        for requests in samples {
            let pools = vec![requests, 2 * requests];
            load.add(LoadSample { requests, pools });
        }
        load
    }

    fn percent(share: f64) -> String {
        format!("{:.0}", share * 100.0)
    }

    #[test]
    fn the_share_is_a_mean_over_the_samples() {
        for (samples, workers, expected) in [
            (vec![], 2, "0"),
            (vec![0, 0], 2, "0"),
            (vec![3], 2, "50"),
            (vec![6, 0, 6, 6], 2, "75"),
            // Six run, and six wait.
            (vec![12, 12], 2, "200"),
            (vec![3], 0, "0"),
        ] {
            let share = load(samples.clone()).utilization(workers);
            assert_eq!(percent(share), expected, "{samples:?}");
        }
    }

    #[test]
    fn what_is_older_than_the_samples_does_not_count() {
        let busy = std::iter::repeat_n(6, 1000);
        let idle = |count| std::iter::repeat_n(0, count);
        let share = |load: RecentLoad| percent(load.utilization(2));
        assert_eq!(share(load(busy.clone().chain(idle(75)))), "50");
        assert_eq!(share(load(busy.chain(idle(SAMPLES_LIMIT)))), "0");
    }

    #[test]
    fn a_pool_has_a_share_of_its_own_threads() {
        let mut load = load([1, 1]);
        assert_eq!(percent(load.pool_utilization(0, None, 2)), "17");
        assert_eq!(percent(load.pool_utilization(1, Some(2), 2)), "100");
        assert_eq!(percent(load.pool_utilization(1, Some(9), 2)), "33");
        assert_eq!(percent(load.pool_utilization(2, Some(2), 2)), "0");
        load.adopt(1);
        assert_eq!(percent(load.pool_utilization(0, None, 2)), "50");
    }
}
