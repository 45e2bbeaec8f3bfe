//! How many fibers this process can have. The stack of each takes two mappings (itself and its guard page), and the kernel
//! allows `vm.max_map_count` of them.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The mappings that Linux allows a process by default.
const USUAL_MAPPINGS: usize = 65_530;

/// The mappings that are left free: Ruby makes up to 1024 stacks at once (cont.c: `FIBER_POOL_ALLOCATION_MAXIMUM_SIZE`),
/// and threads and large objects need some too.
const RESERVED_MAPPINGS: usize = 3_072;

/// After this many further fibers the mappings are counted again: libraries and other threads take some.
const STEP: usize = 1_024;

const MAPPINGS_PER_FIBER: usize = 2;

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// How many fibers there may be before the mappings are counted (again); 0 until the first one.
static CEILING: AtomicUsize = AtomicUsize::new(0);

/// Counts a new fiber. The error says why there can be no more.
pub fn admit() -> Result<(), String> {
    let live = LIVE.load(Ordering::Relaxed);
    if live >= CEILING.load(Ordering::Relaxed) {
        CEILING.store(ceiling(live, mapped(), allowed())?, Ordering::Relaxed);
    }
    LIVE.store(live + 1, Ordering::Relaxed);
    Ok(())
}

/// Counts a fiber that has ended.
pub fn ended() {
    let live = LIVE.load(Ordering::Relaxed);
    LIVE.store(live.saturating_sub(1), Ordering::Relaxed);
}

/// How many fibers there may be, where `mapped` of `allowed` mappings exist. The stacks of fibers that have ended are still
/// mapped, and are used again.
fn ceiling(live: usize, mapped: usize, allowed: usize) -> Result<usize, String> {
    let others = mapped.saturating_sub(live * MAPPINGS_PER_FIBER);
    let room = allowed.saturating_sub(others + RESERVED_MAPPINGS);
    let fibers = room / MAPPINGS_PER_FIBER;
    if fibers > live {
        return Ok(fibers.min(live + live / 2 + STEP));
    }
    Err(format!(
        "{live} fibers live in this process, and vm.max_map_count = {allowed} has no room for another (two mappings \
         each): let fewer run at once, for instance by a Carat::FiberPool, or raise it with sysctl"
    ))
}

fn allowed() -> usize {
    let text = fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    text.trim().parse().unwrap_or(USUAL_MAPPINGS)
}

fn mapped() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mappings_are_counted_again_after_a_while() {
        assert_eq!(ceiling(0, 500, USUAL_MAPPINGS), Ok(STEP));
        assert_eq!(ceiling(4000, 8500, USUAL_MAPPINGS), Ok(4000 + 2000 + STEP));
    }

    #[test]
    fn there_are_no_more_fibers_than_mappings() {
        let live = (USUAL_MAPPINGS - RESERVED_MAPPINGS - 530) / MAPPINGS_PER_FIBER;
        let mapped = 530 + live * MAPPINGS_PER_FIBER;
        let refused = ceiling(live, mapped, USUAL_MAPPINGS).expect_err("no room");
        assert!(refused.contains("vm.max_map_count = 65530"), "{refused}");
        assert_eq!(
            ceiling(live - 1, mapped, USUAL_MAPPINGS),
            Err(refused.replace(&live.to_string(), &(live - 1).to_string()))
        );
    }

    #[test]
    fn stacks_of_fibers_that_have_ended_are_room() {
        let mapped = 60_000;
        assert!(ceiling(10, mapped, USUAL_MAPPINGS).is_ok());
    }
}
