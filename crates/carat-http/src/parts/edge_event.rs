/// An event in the edge that concerns no single request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeEvent {
    /// A client has sent its first request, in this protocol.
    Connected {
        /// The protocol, such as `http/1.1`.
        protocol: &'static str,
    },
    /// The handshake of an encrypted connection is over.
    Handshake {
        /// The result of the handshake.
        result: &'static str,
    },
    /// The supervisor has logged a line about a process.
    Logged {
        /// The message of the line.
        message: &'static str,
        /// Why a worker that could serve is replaced, if the line says that.
        replaces: Option<&'static str>,
    },
}
