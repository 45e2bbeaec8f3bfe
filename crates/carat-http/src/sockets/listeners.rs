use std::io;
use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};

use crate::sockets::listener::Listener;
use carat_tls::TicketKeys;

/// A listening socket that one server hands to another.
#[derive(Debug)]
pub struct HandedListener {
    /// Its value of the `bind` option.
    pub bind: String,
    /// The socket that listens.
    pub socket: OwnedFd,
    /// The keys of its session tickets.
    pub tickets: Option<TicketKeys>,
}

/// The listeners of the server, as far as they still listen: each belongs to the task that accepts its clients.
#[derive(Default)]
pub struct Listeners(Vec<Weak<Listener>>);

impl Listeners {
    /// All of them.
    pub fn new(listeners: &[Rc<Listener>]) -> Listeners {
        Listeners(listeners.iter().map(Rc::downgrade).collect())
    }

    /// A copy of each, for another server.
    pub fn copies(&self) -> io::Result<Vec<HandedListener>> {
        let listeners = self.0.iter().filter_map(Weak::upgrade);
        let copy = |listener: Rc<Listener>| {
            Ok(HandedListener {
                bind: listener.bind.clone(),
                socket: rustix::io::fcntl_dupfd_cloexec(&*listener, 0)?,
                tickets: listener.ticket_keys(),
            })
        };
        listeners.map(copy).collect()
    }

    /// Another server listens on these, too, and owns their files from now on. The addresses are values of its `bind`
    /// option.
    pub fn hand_over(&self, addresses: &[String]) {
        for listener in self.0.iter().filter_map(Weak::upgrade) {
            let bind = &listener.bind;
            if addresses.iter().any(|taken| is_same_place(taken, bind)) {
                listener.disown_file();
            }
        }
    }

    /// The files of the Unix sockets that another server handed over, or had taken over, belong to this one from now on.
    pub fn take_over(&self) {
        for listener in self.0.iter().filter_map(Weak::upgrade) {
            listener.own_file();
        }
    }
}

/// Whether two values of the `bind` option name one place to listen.
fn is_same_place(one: &str, other: &str) -> bool {
    crate::sockets::address::Address::parse(one)
        .is_ok_and(|address| address.is_place_of(one, other))
}
