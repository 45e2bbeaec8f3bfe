//! How much memory the server may have, and how many workers that is: plain arithmetic on plain numbers.

use super::container::Filling;
use crate::settings::MemoryBudget;

/// A worker is never taken for less than this.
const LEAST_COST: u64 = 1 << 20;

/// A worker, as far as the budget is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    /// What it has for itself; `None` until it is weighed.
    pub(crate) private: Option<u64>,
    /// Whether it is hardly going to grow.
    pub(crate) is_grown: bool,
}

/// The memory that all processes together may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) limit: u64,
    /// Whether it is the container's, which others may share.
    is_shared: bool,
}

impl Budget {
    /// The budget of a configuration, in a container as full as this on a machine with so much memory. More than
    /// there is cannot be had.
    pub(crate) fn new(memory: MemoryBudget, filling: &Filling, machine: Option<u64>) -> Budget {
        let (whole, is_container) = match (filling.limit, machine) {
            (Some(limit), Some(memory)) if limit > memory => (memory, false),
            (Some(limit), _) => (limit, true),
            (None, memory) => (memory.unwrap_or(u64::MAX), false),
        };
        match memory {
            MemoryBudget::Share(share) => Budget {
                limit: part(whole, share),
                is_shared: is_container,
            },
            MemoryBudget::Bytes(bytes) => Budget {
                limit: bytes.min(whole),
                is_shared: is_container && bytes >= whole,
            },
        }
    }

    /// What of it is used, by processes that weigh `own` together.
    pub(crate) fn used(&self, own: u64, filling: &Filling) -> u64 {
        let others = filling.anonymous.filter(|_| self.is_shared);
        others.map_or(own, |anonymous| anonymous.max(own))
    }

    /// How many workers may be started, each of which is expected to weigh `cost`, beside `staying` ones, which may
    /// still come to weigh as much.
    pub(crate) fn room(&self, used: u64, cost: u64, staying: &[Load]) -> u32 {
        let cost = cost.max(LEAST_COST);
        let growing = staying.iter().filter(|load| !load.is_grown);
        let reserved: u64 = growing
            .map(|load| cost.saturating_sub(load.private.unwrap_or(0)))
            .sum();
        let left = self.limit.saturating_sub(used.saturating_add(reserved));
        u32::try_from(left / cost).unwrap_or(u32::MAX)
    }

    /// Whether somebody has to go.
    pub(crate) fn is_over(&self, used: u64) -> bool {
        used > self.limit
    }
}

/// What one more worker is expected to weigh: as much as the heaviest. While none has grown, at least half of what the
/// mold has in memory of its own making, which is what garbage collections write to in a long life.
pub(crate) fn cost(staying: &[Load], mold_anonymous: Option<u64>) -> Option<u64> {
    let heaviest = staying.iter().filter_map(|load| load.private).max();
    if staying.iter().any(|load| load.is_grown) {
        heaviest
    } else {
        heaviest.max(mold_anonymous.map(|bytes| bytes / 2))
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of bytes; to the page is near enough"
)]
fn part(whole: u64, share: f64) -> u64 {
    (whole as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    fn filling(limit: Option<u64>, anonymous: u64) -> Filling {
        Filling {
            limit,
            anonymous: Some(anonymous),
            oom_kills: 0,
        }
    }

    fn limit(memory: MemoryBudget, container: Option<u64>, machine: Option<u64>) -> u64 {
        Budget::new(memory, &filling(container, 0), machine).limit
    }

    #[test]
    fn a_share_is_of_the_smaller_of_container_and_machine() {
        let half = MemoryBudget::Share(0.5);
        assert_eq!(limit(half, Some(256 * MIB), Some(GIB)), 128 * MIB);
        assert_eq!(limit(half, Some(4 * GIB), Some(GIB)), GIB / 2);
        assert_eq!(limit(half, None, Some(GIB)), GIB / 2);
    }

    #[test]
    fn bytes_are_bytes_but_not_more_than_there_are() {
        let bytes = MemoryBudget::Bytes(512 * MIB);
        assert_eq!(limit(bytes, None, Some(GIB)), 512 * MIB);
        assert_eq!(limit(bytes, Some(256 * MIB), Some(GIB)), 256 * MIB);
        assert_eq!(limit(bytes, None, None), 512 * MIB);
    }

    #[test]
    fn in_a_container_all_that_is_in_it_is_used() {
        let filling = filling(Some(256 * MIB), 150 * MIB);
        let budget = Budget::new(MemoryBudget::Share(0.8), &filling, Some(GIB));
        assert_eq!(budget.used(100 * MIB, &filling), 150 * MIB);
        assert_eq!(budget.used(160 * MIB, &filling), 160 * MIB);
    }

    #[test]
    fn what_others_use_of_a_machine_or_beside_a_number_of_bytes_does_not_count() {
        let filling = filling(Some(GIB), 700 * MIB);
        for memory in [MemoryBudget::Bytes(200 * MIB), MemoryBudget::Share(0.5)] {
            let machine = if memory == MemoryBudget::Share(0.5) {
                GIB / 2
            } else {
                2 * GIB
            };
            let budget = Budget::new(memory, &filling, Some(machine));
            assert_eq!(budget.used(100 * MIB, &filling), 100 * MIB);
        }
    }

    fn grown(private: u64) -> Load {
        Load {
            private: Some(private),
            is_grown: true,
        }
    }

    fn young(private: u64) -> Load {
        Load {
            is_grown: false,
            ..grown(private)
        }
    }

    const NOT_WEIGHED: Load = Load {
        private: None,
        is_grown: false,
    };

    #[test]
    fn as_many_more_as_fit_beside_those_that_come() {
        let budget = Budget::new(MemoryBudget::Bytes(256 * MIB), &Filling::default(), None);
        let room = |used, coming| budget.room(used, 20 * MIB, &[NOT_WEIGHED; 9][..coming]);
        assert_eq!(room(100 * MIB, 0), 7);
        assert_eq!(room(100 * MIB, 3), 4);
        assert_eq!(room(100 * MIB, 9), 0);
        assert_eq!(room(250 * MIB, 0), 0);
        assert_eq!(room(300 * MIB, 0), 0);
    }

    #[test]
    fn what_the_young_have_not_grown_yet_is_kept_for_them() {
        let budget = Budget::new(MemoryBudget::Bytes(256 * MIB), &Filling::default(), None);
        let room = |staying: &[Load]| budget.room(100 * MIB, 20 * MIB, staying);
        assert_eq!(room(&[grown(2 * MIB); 4]), 7);
        assert_eq!(room(&[young(2 * MIB); 4]), 4);
        assert_eq!(room(&[young(30 * MIB), young(20 * MIB)]), 7);
    }

    #[test]
    fn a_worker_that_weighs_nothing_costs_something() {
        let budget = Budget::new(MemoryBudget::Bytes(8 * MIB), &Filling::default(), None);
        assert_eq!(budget.room(0, 0, &[]), 8);
    }

    #[test]
    fn the_budget_itself_is_not_too_much() {
        let budget = Budget::new(MemoryBudget::Bytes(MIB), &Filling::default(), None);
        assert!(!budget.is_over(MIB));
        assert!(budget.is_over(MIB + 1));
    }

    #[test]
    fn one_more_costs_as_much_as_the_heaviest() {
        let staying = [grown(3 * MIB), young(30 * MIB), NOT_WEIGHED];
        assert_eq!(cost(&staying, Some(90 * MIB)), Some(30 * MIB));
    }

    #[test]
    fn while_none_has_grown_one_more_costs_at_least_half_of_the_mold() {
        let mold = Some(90 * MIB);
        assert_eq!(cost(&[], mold), Some(45 * MIB));
        assert_eq!(cost(&[young(3 * MIB)], mold), Some(45 * MIB));
        assert_eq!(cost(&[young(60 * MIB)], mold), Some(60 * MIB));
        assert_eq!(cost(&[NOT_WEIGHED], None), None);
    }
}
