use carat_log::WorkerId;

/// A process at the other end of a control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RubyProcess {
    /// The mold of this generation.
    Mold(u32),
    /// A process that serves requests.
    Worker(WorkerId),
}
