/// Where a lane stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The worker has not said hello yet.
    Opening,
    /// Takes requests.
    Open,
    /// Finishes what it holds.
    Draining,
    /// Its worker is gone.
    Closed,
}
