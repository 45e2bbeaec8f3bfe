//! Addresses, listeners, and the streams of accepted connections.

mod accept_failures;
mod address;
mod address_parameters;
mod binding;
mod listener;
mod listeners;
mod stream;

pub use accept_failures::AcceptFailures;
pub use binding::{bind_all, bind_everywhere};
pub use listener::Listener;
pub(crate) use listener::Preamble;
pub use listeners::{InheritedListener, Listeners};
pub use stream::ClientStream;
