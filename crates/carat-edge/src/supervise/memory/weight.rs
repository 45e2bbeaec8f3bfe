use super::rollup::Rollup;
use super::trend::Trend;

/// What a worker weighs since it is ready.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weight {
    pub(crate) rollup: Rollup,
    /// Of its private memory.
    pub(crate) private: Trend,
    /// Whether it had begun so many requests by then that it is hardly going to grow.
    pub(crate) is_grown: bool,
}
