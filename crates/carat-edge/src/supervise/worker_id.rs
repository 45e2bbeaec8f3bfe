use std::fmt;

/// Tells a worker from all others, also from the next one with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkerId {
    /// What people call it; free for the next one when the worker is dead.
    pub(crate) number: u32,
    /// How many there were before it.
    pub(crate) serial: u64,
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}
