use crate::dispatch::WorkerId;

/// A process at the other end of a control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RubyProcess {
    /// The mold of this generation.
    Mold(u32),
    Worker(WorkerId),
}
