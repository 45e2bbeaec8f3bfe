use std::io;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};

use super::listener::Listener;

/// The listeners of the server, as far as they still listen: each belongs to the task that accepts its clients.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Vec<Weak<Listener>>);

impl Listeners {
    pub(crate) fn new(listeners: &[Rc<Listener>]) -> Listeners {
        Listeners(listeners.iter().map(Rc::downgrade).collect())
    }

    /// A copy of each socket, with its value of the `bind` option.
    pub(crate) fn copies(&self) -> io::Result<Vec<(String, OwnedFd)>> {
        let listeners = self.0.iter().filter_map(Weak::upgrade);
        let copy = |listener: Rc<Listener>| {
            let socket = rustix::io::fcntl_dupfd_cloexec(&*listener, 0)?;
            Ok((listener.bind().to_owned(), socket))
        };
        listeners.map(copy).collect()
    }

    /// Another server listens on these, too, and owns their files from now on. The addresses are values of its `bind`
    /// option.
    pub(crate) fn hand_over(&self, addresses: &[String]) {
        for listener in self.0.iter().filter_map(Weak::upgrade) {
            let bind = listener.bind();
            if addresses.iter().any(|taken| is_same_place(taken, bind)) {
                listener.disown_file();
            }
        }
    }

    /// The files of the Unix sockets that another server handed over belong to this one from now on.
    pub(crate) fn take_over(&self) {
        for listener in self.0.iter().filter_map(Weak::upgrade) {
            listener.own_file();
        }
    }
}

/// Whether two values of the `bind` option name one place to listen.
fn is_same_place(one: &str, other: &str) -> bool {
    super::address::Address::parse(one).is_ok_and(|address| address.is_place_of(one, other))
}
