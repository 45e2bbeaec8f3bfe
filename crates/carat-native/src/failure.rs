//! What can go wrong on a socket to the edge.

use std::{fmt, io};

use carat_wire::{Kind, Malformed};
use rustix::io::Errno;

/// Why the talk with the edge cannot go on.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The socket failed.
    Socket(io::Error),
    /// The edge sent what is no frame.
    Malformed(Malformed),
    /// The edge sent a frame that has no place here.
    Unexpected(Kind),
    /// A frame came without the descriptors that belong to it.
    NoDescriptor,
    /// The edge sent more ahead than a lane keeps.
    TooFarAhead,
}

impl Failure {
    /// Whether the error says that the other end of the socket has been closed.
    pub(crate) fn is_gone(error: &io::Error) -> bool {
        let gone = [Errno::PIPE, Errno::CONNRESET].map(|errno| Some(errno.raw_os_error()));
        gone.contains(&error.raw_os_error())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Socket(error) => write!(f, "the socket to the edge failed: {error}"),
            Failure::Malformed(error) => write!(f, "the edge sent a malformed frame: {error}"),
            Failure::Unexpected(kind) => write!(f, "the edge sent an unexpected {kind:?}"),
            Failure::NoDescriptor => write!(f, "a frame came without its descriptors"),
            Failure::TooFarAhead => write!(f, "the edge sent too much ahead"),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Socket(error)
    }
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Failure {
        Failure::Malformed(error)
    }
}
