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

/// Identifies a further process of the application: how many were forked before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppProcessId(pub u64);
