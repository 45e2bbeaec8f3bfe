/// The longest message of a client in bytes.
pub const MESSAGE_LIMIT: u32 = 64 * 1024;
/// The most bytes that the server keeps for one client between two commands: the record of its
/// connection, and the identifiers, records, and streams of its subscriptions.
pub const SESSION_LIMIT: usize = 128 * 1024;
/// The most bytes that wait for one client behind the first message. A client that does not read as
/// fast as messages are sent to it is disconnected.
pub const OUTBOX_LIMIT: usize = 256 * 1024;
/// The most bytes of the sessions of absent clients. Beyond it, the sessions of the clients that
/// have been away for longest end.
pub const KEPT_SESSIONS_LIMIT: usize = 8 * 1024 * 1024;

/// Limits of the bytes that the server holds for its clients. They are lower than the constants
/// above when `client_memory` is small.
///
/// ```
/// use carat_cable::SocketLimits;
///
/// let (plenty, little) = (SocketLimits::of(8 << 20), SocketLimits::of(1 << 20));
/// assert_eq!((plenty.message, little.message), (65_536, 8192));
/// assert_eq!((plenty.kept_sessions, little.kept_sessions), (1 << 20, 1 << 17));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketLimits {
    /// A message of a client. Also all commands of a client that wait together.
    pub message: u32,
    /// The subscriptions of a client.
    pub session: usize,
    /// Messages that wait for a client.
    pub outbox: usize,
    /// The sessions of all clients that are away.
    pub kept_sessions: usize,
}

impl SocketLimits {
    /// The limits for a `client_memory` of this number of bytes.
    pub fn of(client_memory: u64) -> SocketLimits {
        let part = |divisor: u64| usize::try_from(client_memory / divisor).unwrap_or(usize::MAX);
        SocketLimits {
            message: u32::try_from(part(128)).map_or(MESSAGE_LIMIT, |it| it.min(MESSAGE_LIMIT)),
            session: part(64).min(SESSION_LIMIT),
            outbox: part(32).min(OUTBOX_LIMIT),
            kept_sessions: part(8).min(KEPT_SESSIONS_LIMIT),
        }
    }
}

impl Default for SocketLimits {
    fn default() -> SocketLimits {
        SocketLimits::of(u64::MAX)
    }
}
