use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::rc::Rc;

use super::handshake_thread::HandshakeThread;
use crate::handshake_error::HandshakeError;
use crate::stream::TlsStream;
use carat_exchange::Peer;
use carat_http::{Deadline, Failures};
use carat_log::Log;

/// The most handshakes in progress. A further one ends a handshake of the address that has the most: the oldest that
/// waits for its client, so that clients that stall keep nobody out. If none waits, the newest ends, so that the
/// earlier ones can finish.
const RUNNING_LIMIT: usize = 512;

/// The TLS handshakes of all clients.
#[derive(Default)]
pub(crate) struct Handshakes {
    /// The thread that computes, which is started for the first client.
    thread: OnceCell<HandshakeThread>,
    running: RefCell<VecDeque<HandshakeEntry>>,
    /// How many running handshakes each address has.
    addresses: RefCell<HashMap<Option<IpAddr>, usize>>,
    begun: Cell<u64>,
    failed: RefCell<Failures>,
}

struct HandshakeEntry {
    id: u64,
    address: Option<IpAddr>,
    deadline: Rc<Deadline>,
    awaits_client: bool,
}

/// A handshake in progress. It counts until this is dropped.
pub(super) struct RunningHandshake<'a> {
    handshakes: &'a Handshakes,
    id: u64,
}

impl Handshakes {
    /// Begins the handshake of a client at this address, which has sent its first bytes. `deadline` is made to expire
    /// when the handshake has to give way to another one.
    pub(super) fn begin(&self, remote: &str, deadline: &Rc<Deadline>) -> RunningHandshake<'_> {
        let id = self.begun.get();
        self.begun.set(id + 1);
        let address = network(remote);
        let mut running = self.running.borrow_mut();
        running.push_back(HandshakeEntry {
            id,
            address,
            deadline: Rc::clone(deadline),
            awaits_client: false,
        });
        let mut addresses = self.addresses.borrow_mut();
        *addresses.entry(address).or_default() += 1;
        if running.len() > RUNNING_LIMIT {
            let index = superfluous(&running, &addresses);
            if let Some(ended) = running.remove(index) {
                ended.deadline.expire();
                forget(&mut addresses, ended.address);
            }
        }
        RunningHandshake {
            handshakes: self,
            id,
        }
    }

    fn thread(&self) -> io::Result<&HandshakeThread> {
        if let Some(thread) = self.thread.get() {
            return Ok(thread);
        }
        let started = HandshakeThread::start()?;
        Ok(self.thread.get_or_init(|| started))
    }

    /// Counts a failure.
    pub(super) fn note_failure(&self, peer: &Peer, error: &HandshakeError) {
        self.failed.borrow_mut().note(peer, error.to_string());
    }

    /// Logs the failures since the last report.
    pub(crate) fn report(&self, log: &Log) {
        self.failed.take().report("TLS handshakes failed", log);
    }
}

/// The network of a client: a host of IPv6 has 64 bits of addresses. `None` for a Unix socket.
pub(super) fn network(remote: &str) -> Option<IpAddr> {
    match remote.parse().ok()? {
        IpAddr::V6(address) => {
            let bits = address.to_bits() >> 64 << 64;
            Some(IpAddr::V6(bits.into()))
        }
        address @ IpAddr::V4(_) => Some(address),
    }
}

fn superfluous(
    running: &VecDeque<HandshakeEntry>,
    addresses: &HashMap<Option<IpAddr>, usize>,
) -> usize {
    let most = addresses.values().max();
    let has_most = |it: &HandshakeEntry| addresses.get(&it.address) == most;
    let stalls = |it: &HandshakeEntry| it.awaits_client && has_most(it);
    let oldest = running.iter().position(stalls);
    oldest.unwrap_or_else(|| running.iter().rposition(has_most).unwrap_or(0))
}

fn forget(addresses: &mut HashMap<Option<IpAddr>, usize>, address: Option<IpAddr>) {
    if let Some(count) = addresses.get_mut(&address) {
        *count -= 1;
        if *count == 0 {
            addresses.remove(&address);
        }
    }
}

impl RunningHandshake<'_> {
    /// Processes what the client has sent, when it is its turn. Returns the connection, and whether the handshake is
    /// complete.
    pub(super) async fn step(
        &self,
        mut stream: Box<TlsStream>,
    ) -> io::Result<(Box<TlsStream>, Result<bool, HandshakeError>)> {
        let step = move || {
            let is_complete = stream.shake_hands();
            (stream, is_complete)
        };
        self.note_whether_client_is_awaited(false);
        let stepped = self.handshakes.thread()?.compute(step).await;
        self.note_whether_client_is_awaited(true);
        stepped
    }

    fn note_whether_client_is_awaited(&self, awaits_client: bool) {
        let mut running = self.handshakes.running.borrow_mut();
        if let Ok(index) = running.binary_search_by_key(&self.id, |it| it.id) {
            running[index].awaits_client = awaits_client;
        }
    }
}

impl Drop for RunningHandshake<'_> {
    fn drop(&mut self) {
        let mut running = self.handshakes.running.borrow_mut();
        if let Ok(index) = running.binary_search_by_key(&self.id, |it| it.id) {
            if let Some(ended) = running.remove(index) {
                forget(&mut self.handshakes.addresses.borrow_mut(), ended.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use super::*;
    use carat_http::Deadlines;

    struct Client<'a> {
        handshake: RunningHandshake<'a>,
        deadline: Rc<Deadline>,
    }

    impl Client<'_> {
        fn is_ended(&self) -> bool {
            self.deadline.passed(Waker::noop())
        }
    }

    fn client<'a>(
        handshakes: &'a Handshakes,
        deadlines: &Rc<Deadlines>,
        remote: &str,
    ) -> Client<'a> {
        let deadline = Rc::new(deadlines.deadline());
        deadline.set(Duration::from_secs(3600));
        Client {
            handshake: handshakes.begin(remote, &deadline),
            deadline,
        }
    }

    #[test]
    fn one_handshake_too_many_ends_the_oldest_that_awaits_its_client() {
        let (deadlines, handshakes) = (Deadlines::new(), Handshakes::default());
        let mut clients: Vec<_> = (0..RUNNING_LIMIT)
            .map(|_| client(&handshakes, &deadlines, "192.0.2.1"))
            .collect();
        let newest = client(&handshakes, &deadlines, "192.0.2.1");
        assert!(newest.is_ended() && !clients.iter().any(Client::is_ended));

        for stalled in [7, 9] {
            let handshake = &clients[stalled].handshake;
            handshake.note_whether_client_is_awaited(true);
        }
        let newest = client(&handshakes, &deadlines, "192.0.2.1");
        let ended: Vec<_> = clients.iter().map(Client::is_ended).collect();
        assert!(ended[7] && !ended[9] && !newest.is_ended());

        clients.remove(5);
        assert_eq!(handshakes.running.borrow().len(), RUNNING_LIMIT - 1);
        drop((clients, newest));
        assert!(handshakes.running.borrow().is_empty());
        assert!(handshakes.addresses.borrow().is_empty());
    }

    #[test]
    fn a_flood_from_one_address_ends_no_handshake_of_another() {
        for (flooding, honest) in [
            ("192.0.2.1", "192.0.2.2"),
            ("2001:db8::1", "2001:db8:0:1::"),
        ] {
            let (deadlines, handshakes) = (Deadlines::new(), Handshakes::default());
            let honest = client(&handshakes, &deadlines, honest);
            honest.handshake.note_whether_client_is_awaited(true);
            let flood: Vec<_> = (0..2 * RUNNING_LIMIT)
                .map(|_| client(&handshakes, &deadlines, flooding))
                .collect();
            assert!(!honest.is_ended());
            let ended = flood.iter().filter(|it| it.is_ended());
            assert_eq!(ended.count(), RUNNING_LIMIT + 1);
        }
    }
}
