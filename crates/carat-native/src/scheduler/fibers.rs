//! How many fibers this process can have: the stack of each takes two mappings (itself and its guard), and the kernel
//! allows `vm.max_map_count` of them.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What Linux allows where nobody has changed it.
const USUAL_MAPPINGS: usize = 65_530;

/// The mappings that are left: Ruby makes up to 1024 stacks at once (cont.c: `FIBER_POOL_ALLOCATION_MAXIMUM_SIZE`), and
/// threads and large objects need some too.
const RESERVED_MAPPINGS: usize = 3_072;

/// How many fibers there may be more before the mappings are counted again: libraries and other threads take some.
const STEP: usize = 1_024;

const MAPPINGS_PER_FIBER: usize = 2;

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// How many fibers there may be before the mappings are counted (again); 0 until the first one.
static CEILING: AtomicUsize = AtomicUsize::new(0);

/// Counts a new fiber; the reason why not, if there can be no more.
pub(crate) fn admit() -> Result<(), String> {
    let live = LIVE.load(Ordering::Relaxed);
    if live >= CEILING.load(Ordering::Relaxed) {
        CEILING.store(ceiling(live)?, Ordering::Relaxed);
    }
    LIVE.store(live + 1, Ordering::Relaxed);
    Ok(())
}

/// Counts a fiber that has ended.
pub(crate) fn ended() {
    let live = LIVE.load(Ordering::Relaxed);
    LIVE.store(live.saturating_sub(1), Ordering::Relaxed);
}

/// How many fibers there may be in all, from what is mapped now. Stacks of fibers that have ended are still mapped,
/// and used again: those count as room.
fn ceiling(live: usize) -> Result<usize, String> {
    let limit = allowed();
    let mapped = mapped().saturating_sub(live * MAPPINGS_PER_FIBER);
    let room = limit.saturating_sub(mapped + RESERVED_MAPPINGS);
    let fibers = room / MAPPINGS_PER_FIBER;
    if fibers > live {
        return Ok(fibers.min(live + live / 2 + STEP));
    }
    Err(format!(
        "{live} fibers live in this process, and vm.max_map_count = {limit} has no room for another (two mappings \
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
