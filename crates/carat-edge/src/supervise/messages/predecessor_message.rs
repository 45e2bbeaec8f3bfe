/// What the old edge says.
pub(crate) enum PredecessorMessage {
    /// Accept clients.
    Serve,
    Load {
        connections: usize,
        bytes: u64,
        /// Whether it runs further processes of the application, or may start them.
        runs_apps: bool,
    },
    /// It has ended.
    Ended,
}
