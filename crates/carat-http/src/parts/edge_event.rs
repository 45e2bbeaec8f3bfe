/// What happens in the edge beside requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeEvent {
    /// A client has sent its first request, in this protocol.
    Connected {
        /// The protocol, such as `http/1.1`.
        protocol: &'static str,
    },
    /// The beginning of an encrypted connection is over.
    Handshake {
        /// What has become of it.
        result: &'static str,
    },
    /// The supervisor logs what becomes of a process.
    Logged {
        /// The message of the line.
        message: &'static str,
        /// Why a worker that could serve is replaced, if the line says that.
        replaces: Option<&'static str>,
    },
}
