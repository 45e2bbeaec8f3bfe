//! `Carat::Lab::Ledger.gaps`: the free memory between the blocks of each account.
//!
//! jemalloc has blocks of one size in slabs. What is free in a slab is of no use for other sizes as long as one block in it
//! lives.

use std::collections::HashMap;
use std::mem::{size_of, size_of_val};

use magnus::{Error, Object, RArray, RModule, Ruby, function};

use crate::ledger::block_map::look_up;
use crate::malloc::Mallctl;

/// As jemalloc's `inspect_extent_util_stats_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Slab {
    free: usize,
    /// All blocks for which it has room.
    blocks: usize,
    bytes: usize,
}

/// Defines the function on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("gaps", function!(gaps, 0))
}

/// Returns an Array for each account and each size of its blocks since `map_blocks`: the number of the account, the
/// size, and the free bytes of their slabs, which the live blocks of a slab share equally. Empty where the allocator does
/// not say what is free.
fn gaps(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    let Some(mallctl) = Mallctl::find() else {
        return Ok(rows);
    };
    let mut sums = HashMap::new();
    let found = look_up(|address, block| {
        let share = Slab::around(&mallctl, address)?.share(block.bytes)?;
        Some((block.account, block.bytes, share))
    });
    for (account, bytes, share) in found.into_iter().flatten() {
        *sums.entry((account, bytes)).or_insert(0_u64) += share;
    }
    for ((account, bytes), sum) in sums {
        rows.push((account, bytes, sum))?;
    }
    Ok(rows)
}

impl Slab {
    /// The slab of the block at an address. What is no slab has one block. `None` when jemalloc does not know.
    fn around(mallctl: &Mallctl, address: u64) -> Option<Slab> {
        let mut slab = Slab::default();
        let mut length = size_of_val(&slab);
        let mut block = address;
        // SAFETY: jemalloc reads one pointer, which it looks up and does not follow, and writes one such structure.
        let status = unsafe {
            mallctl.call(
                c"experimental.utilization.batch_query",
                (&raw mut slab).cast(),
                &raw mut length,
                (&raw mut block).cast(),
                size_of::<u64>(),
            )
        };
        (status == 0 && slab.bytes > 0).then_some(slab)
    }

    /// The part of its free bytes that belongs to one of its live blocks.
    fn share(self, block_bytes: u64) -> Option<u64> {
        let live = self.blocks.checked_sub(self.free)?;
        let free = u64::try_from(self.free).ok()?.checked_mul(block_bytes)?;
        free.checked_div(u64::try_from(live).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::Slab;

    #[test]
    fn live_blocks_share_what_is_free() {
        let slab = |free| Slab {
            free,
            blocks: 64,
            bytes: 4096,
        };
        assert_eq!(slab(63).share(64), Some(63 * 64));
        assert_eq!(slab(32).share(64), Some(64));
        assert_eq!(slab(0).share(64), Some(0));
    }

    #[test]
    fn slab_without_live_blocks_has_no_shares() {
        let slab = Slab {
            free: 64,
            blocks: 64,
            bytes: 4096,
        };
        assert_eq!(slab.share(64), None);
    }
}
