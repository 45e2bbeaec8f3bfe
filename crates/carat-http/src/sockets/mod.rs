//! Addresses, listeners, and the streams of accepted connections.

mod address;
mod address_parameters;
mod binding;
mod listener;
mod listeners;
mod stream;

pub(crate) use binding::bind_all;
pub(crate) use listener::{Listener, Preamble};
pub(crate) use listeners::{HandedListener, Listeners};
pub(crate) use stream::ClientStream;
