//! How much memory clients may make the edge hold.

use crate::MemoryLimit;

/// The share of the memory budget that clients may take if the option is not set.
const DEFAULT_SHARE: f64 = 0.1;
/// The smallest default in bytes.
const DEFAULT_LEAST: u64 = 8 << 20;
/// The largest default in bytes.
const DEFAULT_MOST: u64 = 256 << 20;

/// The smallest limit in bytes.
const LEAST: u64 = 1 << 20;

/// The limit in bytes that the option `client_memory` sets for a memory budget of this many bytes.
pub fn client_memory(option: Option<MemoryLimit>, budget: u64) -> u64 {
    match option {
        None => MemoryLimit::Share(DEFAULT_SHARE)
            .of(budget)
            .clamp(DEFAULT_LEAST, DEFAULT_MOST),
        Some(limit) => limit.of(budget).max(LEAST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_default_is_a_tenth_of_the_budget_within_bounds() {
        assert_eq!(client_memory(None, 400 * MIB), 40 * MIB);
        assert_eq!(client_memory(None, 20 * MIB), 8 * MIB);
        assert_eq!(client_memory(None, u64::MAX), 256 * MIB);
    }

    #[test]
    fn what_the_option_sets_has_no_upper_bound() {
        let bytes = Some(MemoryLimit::Bytes(4096 * MIB));
        assert_eq!(client_memory(bytes, 400 * MIB), 4096 * MIB);
        let share = Some(MemoryLimit::Share(0.5));
        assert_eq!(client_memory(share, 8192 * MIB), 4096 * MIB);
        assert_eq!(client_memory(share, MIB), MIB);
    }
}
