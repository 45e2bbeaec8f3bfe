use std::cell::Cell;
use std::time::{Duration, Instant};

use tikv_jemalloc_ctl::{Access, AsName, Result, epoch, stats};

/// The least allowance: the bytes that the allocator may hold for clients beyond the counted ones. Blocks are rounded
/// up, and pages are half empty.
const LEAST_ALLOWANCE: u64 = 4 * 1024 * 1024;

/// The allowance is the limit divided by this, if that is more.
const ALLOWANCE_PART: u64 = 4;

/// The time between two measurements of the edge's own memory.
const OWN_PAUSE: Duration = Duration::from_secs(10);
/// The most bytes by which the edge's own memory may grow between two measurements: memory that a client has just
/// freed is not the edge's own.
const OWN_GROWTH: u64 = 1024 * 1024;

/// The setting of jemalloc for the milliseconds after which free pages go back to the system; 0 for at once.
const DECAY: &[u8] = b"arena.0.dirty_decay_ms\0";
/// The setting of jemalloc for the usual value of `DECAY`.
const USUAL_DECAY: &[u8] = b"arenas.dirty_decay_ms\0";

/// The allocator's memory, in comparison with what is counted of it.
#[derive(Default)]
pub(super) struct AllocatorUse {
    /// The bytes that the edge takes without clients, and when they were measured.
    own: Cell<Option<(u64, Instant)>>,
    gives_back_at_once: Cell<bool>,
}

impl AllocatorUse {
    /// The bytes that clients make the edge hold beyond the `counted` ones and the allowance. Not measured while less
    /// than half of `limit` is used. `lent` are the bytes that parts hold.
    pub(super) fn uncounted(&self, counted: u64, lent: u64, limit: u64, now: Instant) -> u64 {
        let is_busy = counted > limit / 2;
        self.give_back_at_once(is_busy);
        if !is_busy && !self.may_grow(counted, limit, now) {
            return 0;
        }
        let resident = resident().map(|resident| resident.saturating_sub(lent));
        let judged = resident.map(|resident| self.judge(resident, counted, limit, now));
        judged.unwrap_or(0)
    }

    /// Whether the edge's own memory is to be measured again: it is due, and clients hold little.
    fn may_grow(&self, counted: u64, limit: u64, now: Instant) -> bool {
        let own = self.own.get();
        let is_due = own.is_none_or(|(_, at)| now.saturating_duration_since(at) >= OWN_PAUSE);
        is_due && counted < limit / 16
    }

    fn judge(&self, resident: u64, counted: u64, limit: u64, now: Instant) -> u64 {
        let beside = resident.saturating_sub(counted);
        let (own, at) = self.own.get().unwrap_or((beside, now));
        let (most, at) = if self.may_grow(counted, limit, now) {
            (own + OWN_GROWTH, now)
        } else {
            (own, at)
        };
        let own = beside.min(most);
        self.own.set(Some((own, at)));
        let allowance = LEAST_ALLOWANCE.max(limit / ALLOWANCE_PART);
        // At least half of the limit stays for counted bytes: idle connections, of which there may be thousands, are
        // not counted.
        beside.saturating_sub(own + allowance).min(limit / 2)
    }

    fn give_back_at_once(&self, at_once: bool) {
        if self.gives_back_at_once.replace(at_once) != at_once {
            // If the setting fails, pages go back later, as usual.
            let _ = set_decay(at_once);
        }
    }
}

fn set_decay(at_once: bool) -> Result<()> {
    let milliseconds: isize = if at_once {
        0
    } else {
        USUAL_DECAY.name().read()?
    };
    DECAY.name().write(milliseconds)
}

/// Bytes that the allocator holds, free pages included.
fn resident() -> Result<u64> {
    epoch::advance()?;
    Ok(stats::resident::read()? as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;
    const LIMIT: u64 = 24 * MIB;

    #[test]
    fn what_nobody_counts_is_noticed_beyond_the_allowance() {
        let (allocator, now) = (AllocatorUse::default(), Instant::now());
        assert_eq!(allocator.judge(5 * MIB, 0, LIMIT, now), 0);
        assert_eq!(allocator.judge(31 * MIB, 20 * MIB, LIMIT, now), 0);
        assert_eq!(allocator.judge(40 * MIB, 20 * MIB, LIMIT, now), 9 * MIB);
        assert_eq!(allocator.judge(99 * MIB, 20 * MIB, LIMIT, now), LIMIT / 2);
    }

    #[test]
    fn pages_that_were_just_given_back_do_not_become_the_edges_own() {
        let (allocator, now) = (AllocatorUse::default(), Instant::now());
        allocator.judge(5 * MIB, 0, LIMIT, now);
        allocator.judge(25 * MIB, 0, LIMIT, now);
        assert_eq!(allocator.judge(40 * MIB, 20 * MIB, LIMIT, now), 9 * MIB);
        allocator.judge(25 * MIB, 0, LIMIT, now + OWN_PAUSE);
        assert_eq!(allocator.judge(40 * MIB, 20 * MIB, LIMIT, now), 8 * MIB);
    }

    #[test]
    fn the_allocator_can_be_told_when_to_give_pages_back() {
        assert_eq!([set_decay(true), set_decay(false)], [Ok(()); 2]);
    }
}
