use std::fmt;
use std::io;

use super::on_demand::DemandRefusal;

/// Why a client did not get a TLS connection.
pub(crate) enum HandshakeError {
    /// The client speaks plain HTTP.
    PlainHttp,
    /// There is no certificate for the name that the client asks for.
    NoCertificate(String, DemandRefusal),
    /// The client's bytes are not a handshake that the server accepts.
    Refused(rustls::Error),
    /// The connection broke.
    Lost(io::Error),
    /// `client_memory` is used up.
    NoMemory,
    /// The client closed the connection.
    Closed,
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandshakeError::PlainHttp => f.write_str("the client speaks plain HTTP"),
            HandshakeError::NoCertificate(name, reason) => {
                write!(f, "no certificate for {name}: {reason}")
            }
            HandshakeError::Refused(error) => error.fmt(f),
            HandshakeError::Lost(error) => error.fmt(f),
            HandshakeError::NoMemory => f.write_str("client_memory is used up"),
            HandshakeError::Closed => f.write_str("the client closed the connection"),
        }
    }
}
