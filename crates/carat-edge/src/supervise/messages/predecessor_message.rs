/// What the old edge says.
#[derive(Debug)]
pub(crate) enum PredecessorMessage {
    /// Accept clients.
    Serve,
    Load {
        connections: usize,
        bytes: u64,
    },
    /// It has ended.
    Ended,
}
