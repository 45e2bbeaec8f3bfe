/// A stage in the life of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    /// The worker has not sent HELLO.
    Opening,
    /// Takes requests.
    Open,
    /// Finishes the requests that it holds.
    Draining,
    /// The worker is gone.
    Closed,
}
