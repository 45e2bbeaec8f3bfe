use super::rollup::Rollup;
use super::trend::Trend;

/// What a worker weighs since it is ready.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weight {
    pub(crate) rollup: Rollup,
    /// Of its private memory.
    pub(crate) private: Trend,
    /// Whether it had begun a request by then.
    pub(crate) has_served: bool,
}
