//! How much memory the server may use, and how many workers fit.

use serde::Deserialize;

use crate::memory::edge_memory::EdgeMemory;

/// A worker is expected to need at least this many bytes.
const LEAST_COST: u64 = 1 << 20;

/// The option `memory`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "WrittenMemory")]
pub enum MemoryLimit {
    /// A number of bytes.
    Bytes(u64),
    /// A share, up to 1, of the memory of the container or the machine.
    Share(f64),
}

/// A number of bytes, or a share such as `80%`.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenMemory {
    Bytes(u64),
    Share(String),
}

impl TryFrom<WrittenMemory> for MemoryLimit {
    type Error = &'static str;

    fn try_from(written: WrittenMemory) -> Result<MemoryLimit, &'static str> {
        match written {
            WrittenMemory::Bytes(bytes) => Ok(MemoryLimit::Bytes(bytes)),
            WrittenMemory::Share(text) => {
                let number = text.strip_suffix('%');
                let percent: Option<f64> = number.and_then(|number| number.parse().ok());
                let percent = percent.ok_or("memory is not a share")?;
                Ok(MemoryLimit::Share(percent / 100.0))
            }
        }
    }
}

impl MemoryLimit {
    /// The limit in bytes, for a share of `whole` bytes.
    pub fn of(self, whole: u64) -> u64 {
        match self {
            MemoryLimit::Bytes(bytes) => bytes,
            MemoryLimit::Share(share) => share_of(whole, share),
        }
    }
}

/// The memory of the control group that the server runs in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContainerMemory {
    /// The lowest limit in bytes; `None` without a limit.
    pub limit: Option<u64>,
    /// The bytes that no file backs, resident or swapped out, of all processes under the limit. The page cache does not
    /// count, because the kernel drops it before it kills a process.
    pub anonymous: Option<u64>,
    /// How many processes the OOM killer has killed.
    pub oom_kills: u64,
}

/// The memory of a worker, as the budget counts it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WorkerLoad {
    /// Private memory in bytes; `None` until it was read.
    pub private: Option<u64>,
    /// The most private memory that the worker is expected to need once it has grown, in bytes.
    pub highest: u64,
    /// Whether the worker has served enough requests for its full size: it will hardly grow.
    pub is_grown: bool,
}

/// The memory that all processes together may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBudget {
    /// The limit in bytes.
    pub limit: u64,
    /// The memory of the container or the machine in bytes. The limit may be a part of it.
    whole: u64,
    /// Whether the limit is the container's, which other processes may share.
    is_shared: bool,
}

impl MemoryBudget {
    /// The budget that the option `memory` sets in this container, on a machine with this many bytes. It exceeds
    /// neither the container nor the machine.
    pub fn new(
        memory: MemoryLimit,
        container: &ContainerMemory,
        machine: Option<u64>,
    ) -> MemoryBudget {
        let (whole, is_container) = match (container.limit, machine) {
            (Some(limit), Some(memory)) if limit > memory => (memory, false),
            (Some(limit), _) => (limit, true),
            (None, memory) => (memory.unwrap_or(u64::MAX), false),
        };
        match memory {
            MemoryLimit::Share(share) => MemoryBudget {
                whole,
                limit: share_of(whole, share),
                is_shared: is_container,
            },
            MemoryLimit::Bytes(bytes) => MemoryBudget {
                whole,
                limit: bytes.min(whole),
                is_shared: is_container && bytes >= whole,
            },
        }
    }

    /// How much of the budget is used when the Ruby processes use `ruby` bytes. The edge always counts for `reserve`
    /// bytes, whatever it uses.
    pub fn used(
        &self,
        ruby: u64,
        edge: &EdgeMemory,
        reserve: u64,
        container: &ContainerMemory,
    ) -> u64 {
        let anonymous = container.anonymous.filter(|_| self.is_shared);
        let others = anonymous.map_or(0, |bytes| bytes.saturating_sub(edge.anonymous));
        others.max(ruby).saturating_add(reserve)
    }

    /// How many more workers fit if each needs `cost` bytes. The `staying` workers may still grow, to `cost` bytes or
    /// to their highest.
    pub fn room(&self, used: u64, cost: u64, staying: &[WorkerLoad]) -> u32 {
        let cost = cost.max(LEAST_COST);
        let most = |load: &WorkerLoad| if load.is_grown { load.highest } else { cost };
        let reserved: u64 = staying
            .iter()
            .map(|load| most(load).saturating_sub(load.private.unwrap_or(0)))
            .sum();
        let left = self.limit.saturating_sub(used.saturating_add(reserved));
        u32::try_from(left / cost).unwrap_or(u32::MAX)
    }

    /// How many bytes are missing for a mold that takes `ready` bytes once it has booted, and `peak` bytes for a moment
    /// before. The peak only has to fit the container or the machine, not the budget.
    pub fn missing(&self, used: u64, ready: u64, peak: u64) -> u64 {
        let lasting = used.saturating_add(ready).saturating_sub(self.limit);
        let brief = used.saturating_add(peak).saturating_sub(self.whole);
        lasting.max(brief)
    }

    /// Whether this many bytes exceed the budget.
    pub fn is_over(&self, used: u64) -> bool {
        used > self.limit
    }
}

/// The expected private memory of one more worker: as much as the largest worker has needed. While no worker has grown,
/// it is at least `ungrown`.
pub fn worker_cost(staying: &[WorkerLoad], ungrown: Option<u64>) -> Option<u64> {
    let read = staying.iter().filter(|load| load.private.is_some());
    let heaviest = read.map(|load| load.highest).max();
    if staying.iter().any(|load| load.is_grown) {
        heaviest
    } else {
        heaviest.max(ungrown)
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of bytes is approximate"
)]
fn share_of(whole: u64, share: f64) -> u64 {
    (whole as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn container_of(limit: Option<u64>, anonymous: u64) -> ContainerMemory {
        ContainerMemory {
            limit,
            anonymous: Some(anonymous),
            oom_kills: 0,
        }
    }

    fn budget_of(bytes: u64) -> MemoryBudget {
        MemoryBudget::new(MemoryLimit::Bytes(bytes), &ContainerMemory::default(), None)
    }

    fn limit(memory: MemoryLimit, container: Option<u64>, machine: Option<u64>) -> u64 {
        MemoryBudget::new(memory, &container_of(container, 0), machine).limit
    }

    #[test]
    fn a_share_is_of_the_smaller_of_container_and_machine() {
        let half = MemoryLimit::Share(0.5);
        assert_eq!(limit(half, Some(256 * MIB), Some(GIB)), 128 * MIB);
        assert_eq!(limit(half, Some(4 * GIB), Some(GIB)), GIB / 2);
        assert_eq!(limit(half, None, Some(GIB)), GIB / 2);
    }

    #[test]
    fn bytes_are_capped_by_what_there_is() {
        let bytes = MemoryLimit::Bytes(512 * MIB);
        assert_eq!(limit(bytes, None, Some(GIB)), 512 * MIB);
        assert_eq!(limit(bytes, Some(256 * MIB), Some(GIB)), 256 * MIB);
        assert_eq!(limit(bytes, None, None), 512 * MIB);
    }

    #[test]
    fn in_a_container_all_of_its_processes_count() {
        let container = container_of(Some(256 * MIB), 150 * MIB);
        let budget = MemoryBudget::new(MemoryLimit::Share(0.8), &container, Some(GIB));
        let used = |ruby| budget.used(ruby, &EdgeMemory::default(), 0, &container);
        assert_eq!(used(100 * MIB), 150 * MIB);
        assert_eq!(used(160 * MIB), 160 * MIB);
    }

    #[test]
    fn the_edge_counts_for_its_reserve_whatever_it_uses() {
        for edge in [5 * MIB, 90 * MIB] {
            let container = container_of(Some(256 * MIB), 100 * MIB + edge);
            let budget = MemoryBudget::new(MemoryLimit::Share(0.8), &container, Some(GIB));
            let edge = EdgeMemory {
                total: edge,
                anonymous: edge,
                clients: 0,
            };
            let used = |ruby| budget.used(ruby, &edge, 30 * MIB, &container);
            assert_eq!(used(80 * MIB), 130 * MIB);
            assert_eq!(used(120 * MIB), 150 * MIB);
        }
    }

    #[test]
    fn other_processes_count_only_against_a_share_of_the_container() {
        let container = container_of(Some(GIB), 700 * MIB);
        for memory in [MemoryLimit::Bytes(200 * MIB), MemoryLimit::Share(0.5)] {
            let machine = if memory == MemoryLimit::Share(0.5) {
                GIB / 2
            } else {
                2 * GIB
            };
            let budget = MemoryBudget::new(memory, &container, Some(machine));
            let used = budget.used(100 * MIB, &EdgeMemory::default(), 0, &container);
            assert_eq!(used, 100 * MIB);
        }
    }

    fn grown(private: u64) -> WorkerLoad {
        WorkerLoad {
            private: Some(private),
            highest: private,
            is_grown: true,
        }
    }

    fn young(private: u64) -> WorkerLoad {
        WorkerLoad {
            is_grown: false,
            ..grown(private)
        }
    }

    const NOT_READ: WorkerLoad = WorkerLoad {
        private: None,
        highest: 0,
        is_grown: false,
    };

    #[test]
    fn workers_that_were_not_read_yet_reserve_their_cost() {
        let budget = budget_of(256 * MIB);
        let room = |used, coming| budget.room(used, 20 * MIB, &[NOT_READ; 9][..coming]);
        assert_eq!(room(100 * MIB, 0), 7);
        assert_eq!(room(100 * MIB, 3), 4);
        assert_eq!(room(100 * MIB, 9), 0);
        assert_eq!(room(250 * MIB, 0), 0);
        assert_eq!(room(300 * MIB, 0), 0);
    }

    #[test]
    fn young_workers_reserve_what_they_may_still_grow() {
        let budget = budget_of(256 * MIB);
        let room = |staying: &[WorkerLoad]| budget.room(100 * MIB, 20 * MIB, staying);
        assert_eq!(room(&[grown(2 * MIB); 4]), 7);
        assert_eq!(room(&[young(2 * MIB); 4]), 4);
        assert_eq!(room(&[young(30 * MIB), young(20 * MIB)]), 7);
    }

    #[test]
    fn workers_that_have_shrunk_reserve_what_they_once_needed() {
        let budget = budget_of(256 * MIB);
        let shrunk = WorkerLoad {
            highest: 50 * MIB,
            ..grown(20 * MIB)
        };
        assert_eq!(worker_cost(&[shrunk], None), Some(50 * MIB));
        assert_eq!(budget.room(100 * MIB, 50 * MIB, &[shrunk]), 2);
        assert_eq!(budget.room(100 * MIB, 50 * MIB, &[shrunk; 2]), 1);
    }

    #[test]
    fn a_worker_has_a_minimum_cost() {
        let budget = budget_of(8 * MIB);
        assert_eq!(budget.room(0, 0, &[]), 8);
    }

    #[test]
    fn the_peak_of_a_boot_may_exceed_the_budget_but_not_the_container() {
        let container = container_of(Some(100 * MIB), 0);
        let budget = MemoryBudget::new(MemoryLimit::Share(0.8), &container, None);
        assert_eq!(budget.missing(40 * MIB, 40 * MIB, 60 * MIB), 0);
        assert_eq!(budget.missing(40 * MIB, 50 * MIB, 60 * MIB), 10 * MIB);
        assert_eq!(budget.missing(40 * MIB, 40 * MIB, 75 * MIB), 15 * MIB);
    }

    #[test]
    fn using_the_whole_budget_does_not_exceed_it() {
        let budget = budget_of(MIB);
        assert!(!budget.is_over(MIB));
        assert!(budget.is_over(MIB + 1));
    }

    #[test]
    fn one_more_costs_as_much_as_the_largest() {
        let staying = [grown(3 * MIB), young(30 * MIB), NOT_READ];
        assert_eq!(worker_cost(&staying, Some(90 * MIB)), Some(30 * MIB));
    }

    #[test]
    fn before_any_has_grown_one_more_costs_at_least_what_is_expected_of_it() {
        let expected = Some(45 * MIB);
        assert_eq!(worker_cost(&[], expected), expected);
        assert_eq!(worker_cost(&[young(3 * MIB)], expected), expected);
        assert_eq!(worker_cost(&[young(60 * MIB)], expected), Some(60 * MIB));
        assert_eq!(worker_cost(&[grown(3 * MIB)], expected), Some(3 * MIB));
        assert_eq!(worker_cost(&[NOT_READ], None), None);
    }
}
