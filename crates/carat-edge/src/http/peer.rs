use crate::listen::{Local, Stream};

/// The two ends of a connection, as the application is told of them.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The client's address as text.
    pub(crate) remote: String,
    /// The server's own end.
    pub(crate) local: Local,
}

impl Peer {
    pub(crate) fn of(stream: &Stream) -> Peer {
        Peer {
            remote: stream.remote_address(),
            local: stream.local(),
        }
    }
}
