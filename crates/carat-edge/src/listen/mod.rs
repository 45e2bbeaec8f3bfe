//! The sockets on which clients arrive.

mod accept;
mod address;
mod listener;
mod stream;

pub(crate) use accept::accept;
pub(crate) use listener::{Listener, bind_all};
pub(crate) use stream::{Local, Stream};
