use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::{Rc, Weak};

/// A listening socket that was inherited from a service manager, or from the old edge of an upgrade.
#[derive(Debug)]
pub struct InheritedListener {
    /// The value of the `bind` option that the socket belongs to.
    pub bind: String,
    /// The socket.
    pub socket: OwnedFd,
}

/// The sockets on which the server listens. The inherited sockets are kept here until each is taken. The others belong
/// to the tasks that accept their clients.
#[derive(Default)]
pub struct Listeners {
    inherited: RefCell<Vec<InheritedListener>>,
    listening: RefCell<Vec<(String, Weak<dyn AsFd>)>>,
}

impl Listeners {
    /// The listeners of a server that inherited these.
    pub fn new(inherited: Vec<InheritedListener>) -> Listeners {
        Listeners {
            inherited: RefCell::new(inherited),
            listening: RefCell::default(),
        }
    }

    /// Takes the inherited sockets that listen in this place.
    pub fn take(&self, is_place: impl Fn(&str) -> bool) -> Vec<OwnedFd> {
        let mut inherited = self.inherited.borrow_mut();
        let (same, others) = inherited.drain(..).partition(|it| is_place(&it.bind));
        *inherited = others;
        let same: Vec<InheritedListener> = same;
        same.into_iter().map(|it| it.socket).collect()
    }

    /// Closes the inherited sockets that the configuration does not name any more.
    pub fn close_unused(&self) {
        self.inherited.borrow_mut().clear();
    }

    /// Adds a listener of this `bind` value. The server listens on it as long as the listener exists.
    pub fn add(&self, bind: &str, listener: &Rc<impl AsFd + 'static>) {
        let listener: Weak<dyn AsFd> = Rc::downgrade(listener) as _;
        let listening = (bind.to_owned(), listener);
        self.listening.borrow_mut().push(listening);
    }

    /// Copies of all listening sockets, for the new edge of an upgrade.
    pub fn copies(&self) -> io::Result<Vec<InheritedListener>> {
        let listening = self.listening.borrow();
        let alive = listening.iter();
        let alive = alive.filter_map(|(bind, listener)| Some((bind, listener.upgrade()?)));
        let copy = |(bind, listener): (&String, Rc<dyn AsFd>)| {
            Ok(InheritedListener {
                bind: bind.clone(),
                socket: rustix::io::fcntl_dupfd_cloexec(&*listener, 0)?,
            })
        };
        alive.map(copy).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn all_that_listen_are_copied_and_none_that_has_ended() {
        let listeners = Listeners::default();
        let [first, gone, last] =
            [(); 3].map(|()| Rc::new(TcpListener::bind("127.0.0.1:0").expect("a port")));
        for (bind, listener) in [("a", &first), ("b", &gone), ("c", &last)] {
            listeners.add(bind, listener);
        }
        drop(gone);
        let copies = listeners.copies().expect("descriptors");
        let binds: Vec<&str> = copies.iter().map(|copy| copy.bind.as_str()).collect();
        assert_eq!(binds, ["a", "c"]);
    }
}
