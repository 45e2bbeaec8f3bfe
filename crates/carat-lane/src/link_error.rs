//! Errors of a socket to the edge.

use std::{error, fmt, io};

use carat_link::MissingDescriptors;
use carat_wire::{Kind, Malformed};

/// Why a socket to the edge cannot be used any longer.
#[derive(Debug)]
pub enum LinkError {
    /// The socket failed.
    Socket(io::Error),
    /// The edge sent bytes that are no frame.
    Malformed(Malformed),
    /// The edge sent a kind of frame that this socket does not carry.
    Unexpected(Kind),
    /// A frame arrived without the descriptors that belong to it.
    Descriptors(MissingDescriptors),
    /// The edge sent more than the lane buffers.
    TooFarAhead,
}

/// Whether the error says that the other end has closed the socket.
pub(crate) fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Socket(error) => write!(f, "the socket to the edge failed: {error}"),
            LinkError::Malformed(error) => write!(f, "the edge sent a malformed frame: {error}"),
            LinkError::Unexpected(kind) => write!(f, "the edge sent an unexpected {kind:?}"),
            LinkError::Descriptors(error) => write!(f, "a frame is not usable: {error}"),
            LinkError::TooFarAhead => write!(f, "the edge sent too much ahead"),
        }
    }
}

impl error::Error for LinkError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            LinkError::Socket(error) => Some(error),
            LinkError::Malformed(error) => Some(error),
            LinkError::Descriptors(error) => Some(error),
            LinkError::Unexpected(_) | LinkError::TooFarAhead => None,
        }
    }
}

impl From<io::Error> for LinkError {
    fn from(error: io::Error) -> LinkError {
        LinkError::Socket(error)
    }
}

impl From<Malformed> for LinkError {
    fn from(error: Malformed) -> LinkError {
        LinkError::Malformed(error)
    }
}

impl From<MissingDescriptors> for LinkError {
    fn from(error: MissingDescriptors) -> LinkError {
        LinkError::Descriptors(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pipe_and_a_reset_say_that_the_edge_is_gone() {
        assert!(is_closed(&io::ErrorKind::BrokenPipe.into()));
        assert!(is_closed(&io::ErrorKind::ConnectionReset.into()));
        assert!(!is_closed(&io::ErrorKind::OutOfMemory.into()));
    }

    #[test]
    fn the_cause_is_kept() {
        let error = LinkError::from(io::Error::other("no route"));
        assert_eq!(error.to_string(), "the socket to the edge failed: no route");
        assert!(error::Error::source(&error).is_some());
    }
}
