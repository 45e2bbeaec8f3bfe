//! Addresses, listeners, and the streams of accepted connections.

mod accept_failures;
mod address;
mod binding;
mod listener;
mod listeners;
mod stream;
mod transport;

pub use accept_failures::AcceptFailures;
pub use binding::{bind_all, bind_everywhere};
pub use listener::Listener;
pub(crate) use listener::Preamble;
pub use listeners::{InheritedListener, Listeners};
pub use stream::ClientStream;
pub use transport::{
    ConnectionStart, Handshake, HandshakeEnd, HandshakeWait, StartEnd, Transport, WrappedStream,
};
