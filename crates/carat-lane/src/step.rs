//! The outcome of a step on a socket.

/// The readiness that a step needs of its socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// The edge has sent something, or closed the socket.
    Readable,
    /// The socket takes more bytes.
    Writable,
}

/// How far a step came without blocking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<T> {
    /// The step is complete.
    Done(T),
    /// Repeat the step when the socket is ready.
    Wait(Readiness),
    /// Repeat the step after others have run.
    Yield,
}
