use std::cell::Cell;

/// Random numbers that depend on the seed alone (`SplitMix64`).
#[derive(Debug)]
pub(crate) struct SeededRandom(Cell<u64>);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> SeededRandom {
        SeededRandom(Cell::new(seed))
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in this many of a thousand cases.
    pub(crate) fn chance(&self, of_thousand: u64) -> bool {
        self.below(1000) < of_thousand
    }

    /// Picks one of the choices.
    pub(crate) fn pick<T: Copy>(&self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).expect("below the length")]
    }

    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
