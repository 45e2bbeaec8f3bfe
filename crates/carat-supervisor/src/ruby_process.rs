use serde::Serialize;

use carat_log::WorkerId;

/// A process at the other end of a control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RubyProcess {
    /// The mold of this generation.
    Mold(u32),
    /// A process that serves requests.
    Worker(WorkerId),
    /// A further process of the application.
    App(AppProcessId),
}

/// Identifies a further process of the application: the first one that is forked has number 1, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppProcessId(pub u64);

/// The role of a process.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The edge itself.
    Edge,
    /// The mold that forks.
    Mold,
    /// The mold of the next generation, which is not ready yet.
    NextMold,
    /// The mold that was current before the last restart.
    PreviousMold,
    /// A mold that runs its `at_exit` blocks.
    EndingMold,
    /// A process that serves requests.
    Worker,
    /// A further process of the application.
    Process,
    /// A process that a further process of the application has forked.
    Descendant,
}
