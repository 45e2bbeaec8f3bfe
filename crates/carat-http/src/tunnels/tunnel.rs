use std::future::poll_fn;
use std::io;
use std::mem::replace;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::StatusCode;

use crate::request::head_of_http1;
use crate::time_limits::{ActiveConnections, ActiveGuard, Deadline, SlowReader};
use crate::tunnels::application::Application;
use crate::tunnels::tunnel_client::TunnelClient;
use crate::tunnels::{Relay, RelayEnd, TUNNEL_BUFFER_LIMIT};
use carat_exchange::{
    ConnectionState, MemoryReservation, MemoryWait, Refusal, Takeover, TunnelLog, TunnelPlace,
    clock,
};
use carat_settings::Settings;

/// How long a client may take to read the last bytes of a tunnel that the server closes.
const LAST_BYTES: Duration = Duration::from_secs(5);

/// How often a tunnel checks whether an application that has ended its direction has closed its socket, too.
const HANG_UP_CHECK: Duration = Duration::from_secs(1);

/// The bytes that the edge may hold for the client of a tunnel without listing it among the connections that may be
/// ended when memory is short. Any socket costs about as much.
const UNLISTED_BYTES: usize = 4 * 1024;

/// The ends of a tunnel: a client, and the application that has taken over its connection.
pub struct TunnelEnds {
    application: Application,
    place: TunnelPlace,
    log: Box<dyn TunnelLog>,
    /// Bytes that the client has sent before the tunnel begins.
    received: Vec<u8>,
    /// Bytes that the client gets before all others.
    first: Vec<u8>,
    /// Whether the application has yet to send its own status.
    awaits_status: bool,
    state: Rc<ConnectionState>,
}

impl TunnelEnds {
    /// The ends of a tunnel over a connection of HTTP/1.1. `received` is what the client has sent beyond the request.
    pub(crate) fn of_http1(
        takeover: Takeover,
        received: Vec<u8>,
        state: Rc<ConnectionState>,
    ) -> io::Result<TunnelEnds> {
        let Takeover { tunnel, head, log } = takeover;
        Ok(TunnelEnds {
            application: Application::open(tunnel.application)?,
            place: tunnel.place,
            log,
            received,
            awaits_status: head.is_none(),
            first: head.as_ref().map_or_else(Vec::new, head_of_http1),
            state,
        })
    }

    /// The ends of a tunnel over one stream of a connection. The headers of the response are sent; `first` is what the
    /// application has sent behind them.
    pub fn of_stream(
        application: Application,
        place: TunnelPlace,
        log: Box<dyn TunnelLog>,
        first: Vec<u8>,
        state: Rc<ConnectionState>,
    ) -> TunnelEnds {
        TunnelEnds {
            application,
            place,
            log,
            received: Vec::new(),
            first,
            awaits_status: false,
            state,
        }
    }
}

/// Carries bytes between a client and the application that has taken over its connection, until either ends. There may
/// be many tunnels, so the future keeps only the `ClientTunnel`, which is made from the arguments.
pub fn serve_tunnel<'a, C: TunnelClient>(
    client: &'a mut C,
    ends: TunnelEnds,
    deadline: &'a Rc<Deadline>,
    settings: &Settings,
    active: &'a ActiveConnections,
) -> impl Future<Output = TunnelEnd> + use<'a, C> {
    let mut tunnel = ClientTunnel::new(client, ends, deadline, settings, active);
    poll_fn(move |cx| tunnel.poll(cx))
}

/// How a client's tunnel ends.
#[derive(Debug, PartialEq, Eq)]
pub enum TunnelEnd {
    /// The connection is to be closed in order.
    Complete,
    /// The client has left.
    ClientGone,
    /// The client does not read, or others need the memory of the tunnel.
    Stuck,
}

/// The event for which a tunnel waits, other than bytes. Each has its own deadline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TunnelWait {
    Nothing,
    /// The client, to read.
    Client,
    /// The application, which has ended its direction, to close its socket.
    HangUp,
    /// The client, to read the last bytes before the server closes the tunnel.
    Closing,
}

/// The tunnel of one client.
struct ClientTunnel<'a, C> {
    client: &'a mut C,
    relay: Relay<Application>,
    place: TunnelPlace,
    log: Box<dyn TunnelLog>,
    /// Whether the application has yet to send its own status.
    awaits_status: bool,
    state: Rc<ConnectionState>,
    held: MemoryReservation,
    /// Set while memory is short, and the client's bytes have to wait.
    memory_wait: Option<MemoryWait>,
    wait: TunnelWait,
    reader: SlowReader,
    deadline: &'a Rc<Deadline>,
    connections: &'a ActiveConnections,
    /// Set while bytes wait for the client or the application, or while the edge holds much for the client. A tunnel in
    /// this list may be ended when memory is short.
    active: Option<ActiveGuard<'a>>,
}

impl<'a, C: TunnelClient> ClientTunnel<'a, C> {
    fn new(
        client: &'a mut C,
        ends: TunnelEnds,
        deadline: &'a Rc<Deadline>,
        settings: &Settings,
        connections: &'a ActiveConnections,
    ) -> ClientTunnel<'a, C> {
        let (timeout, min_rate) = (settings.write_timeout, settings.write_min_rate);
        deadline.set(Duration::MAX);
        if ends.application.edge().is_some() {
            ends.state.begin_edge_tunnel();
        }
        ClientTunnel {
            client,
            relay: Relay::new(ends.application, ends.received, ends.first),
            place: ends.place,
            log: ends.log,
            awaits_status: ends.awaits_status,
            held: MemoryReservation::of(ends.state.memory()),
            state: ends.state,
            memory_wait: None,
            wait: TunnelWait::Nothing,
            reader: SlowReader::new(timeout, min_rate, deadline.time()),
            deadline,
            connections,
            active: None,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<TunnelEnd> {
        let Some(end) = self.advance(cx) else {
            return Poll::Pending;
        };
        if let Some(edge) = self.relay.application().edge() {
            let other = match end {
                TunnelEnd::Stuck => "the client did not read",
                TunnelEnd::Complete | TunnelEnd::ClientGone => "the client is gone",
            };
            self.log.ended(edge.end().unwrap_or(other));
        }
        Poll::Ready(end)
    }

    /// Moves the bytes that can be moved now. Returns how the tunnel ends, if it does.
    fn advance(&mut self, cx: &mut Context<'_>) -> Option<TunnelEnd> {
        if self.client.poll_gone(cx).is_ready() {
            return Some(TunnelEnd::ClientGone);
        }
        let is_closing = self.place.poll_closing(cx);
        if is_closing {
            self.relay.stop_client();
        }
        let moved = self.move_down(cx).or_else(|| self.move_up(cx));
        self.account();
        match moved {
            Some(RelayEnd::Complete) => Some(TunnelEnd::Complete),
            Some(RelayEnd::ClientGone) => Some(TunnelEnd::ClientGone),
            None => self.expect(is_closing, cx),
        }
    }

    fn move_down(&mut self, cx: &mut Context<'_>) -> Option<RelayEnd> {
        let (log, awaits_status) = (&mut self.log, &mut self.awaits_status);
        self.relay.poll_down(cx, self.client, |bytes| {
            if replace(awaits_status, false) {
                if let Some(status) = status_of(bytes) {
                    log.responded(status);
                }
            }
            log.sent(bytes.len());
        })
    }

    fn move_up(&mut self, cx: &mut Context<'_>) -> Option<RelayEnd> {
        if !self.has_memory(cx) {
            return None;
        }
        let state = &self.state;
        self.relay.poll_up(cx, self.client, |bytes| {
            state.bytes.count_received(bytes.len());
        })
    }

    /// Whether there is memory for bytes that the application may not accept at once. If not, the task is woken when
    /// there is.
    fn has_memory(&mut self, cx: &mut Context<'_>) -> bool {
        if self.relay.awaits_application() {
            // The waiting bytes have their memory already, and are sent before anything is read.
            return true;
        }
        let wanted = TUNNEL_BUFFER_LIMIT as u64;
        let memory = self.state.memory();
        let has_memory = match &self.memory_wait {
            Some(memory_wait) => memory_wait.is_over(cx.waker()),
            // If the client has sent nothing, no memory is needed.
            None => memory.admits(wanted) || self.client.poll_readable(cx).is_pending(),
        };
        if has_memory {
            self.memory_wait = None;
        } else if self.memory_wait.is_none() {
            let memory_wait = memory.pause(wanted, clock::now());
            memory_wait.is_over(cx.waker());
            self.memory_wait = Some(memory_wait);
        }
        has_memory
    }

    /// Counts the bytes that the client has taken and that the tunnel holds, and notes whether bytes wait for an end.
    fn account(&mut self) {
        self.state.bytes.count_written(self.relay.take_written());
        let is_held_back = self.relay.awaits_application() || self.memory_wait.is_some();
        let held = self.client.held_bytes(is_held_back);
        let held = held + self.relay.application().held_bytes();
        self.held.set(self.relay.held_bytes() + held);
        let is_blocked = self.relay.awaits_client() || is_held_back;
        self.state.set_write_blocked(is_blocked);
        let may_go = is_blocked || self.relay.application().held_bytes() > UNLISTED_BYTES;
        if may_go != self.active.is_some() {
            let connections = self.connections;
            self.active = may_go.then(|| connections.add(&self.state, self.deadline));
        }
    }

    /// Waits for more, or gives up waiting.
    fn expect(&mut self, is_closing: bool, cx: &Context<'_>) -> Option<TunnelEnd> {
        let is_blocked = self.relay.awaits_client();
        if is_closing && !is_blocked {
            return Some(TunnelEnd::Complete);
        }
        let wait = if is_closing {
            TunnelWait::Closing
        } else if is_blocked {
            TunnelWait::Client
        } else if self.relay.is_half_closed() {
            TunnelWait::HangUp
        } else {
            TunnelWait::Nothing
        };
        if wait != replace(&mut self.wait, wait) {
            if let Some(end) = self.begin(wait) {
                return Some(end);
            }
        }
        while self.deadline.passed(cx.waker()) {
            if let Some(end) = self.expired() {
                return Some(end);
            }
        }
        None
    }

    /// Sets the deadline of a wait that begins.
    fn begin(&mut self, wait: TunnelWait) -> Option<TunnelEnd> {
        let (now, written) = (self.deadline.time(), self.state.read_progress());
        if wait != TunnelWait::Client {
            self.reader.end(now, written);
        }
        match wait {
            TunnelWait::Nothing => self.deadline.set(Duration::MAX),
            TunnelWait::Closing => self.deadline.set(LAST_BYTES),
            TunnelWait::HangUp => return self.expired(),
            TunnelWait::Client => {
                let pause = self.reader.begin(now, written);
                return self.await_client(pause);
            }
        }
        None
    }

    /// The deadline has passed. Returns how the tunnel ends, or `None` after a new deadline is set.
    fn expired(&mut self) -> Option<TunnelEnd> {
        if self.state.end.refusal() == Some(Refusal::ClientMemory) {
            return self.make_room();
        }
        match self.wait {
            TunnelWait::Nothing => self.deadline.set(Duration::MAX),
            TunnelWait::Closing => return Some(TunnelEnd::Stuck),
            TunnelWait::HangUp if self.relay.application().is_hung_up() => {
                return Some(TunnelEnd::Complete);
            }
            TunnelWait::HangUp => self.deadline.set(HANG_UP_CHECK),
            TunnelWait::Client => {
                let pause = self
                    .reader
                    .look(self.deadline.time(), self.state.read_progress());
                return self.await_client(pause);
            }
        }
        None
    }

    /// Frees the memory of the tunnel for others. A part of the edge first tells its client to leave.
    fn make_room(&mut self) -> Option<TunnelEnd> {
        if !self.relay.application_mut().make_room() {
            return Some(TunnelEnd::Stuck);
        }
        self.relay.stop_client();
        self.deadline.set(LAST_BYTES);
        None
    }

    /// Continues to wait for the client to read, or gives up.
    fn await_client(&mut self, pause: Option<Duration>) -> Option<TunnelEnd> {
        let Some(pause) = pause else {
            return Some(TunnelEnd::Stuck);
        };
        self.deadline.set(pause);
        None
    }
}

/// The status at the beginning of a response that the application wrote itself.
fn status_of(bytes: &[u8]) -> Option<StatusCode> {
    let rest = bytes.strip_prefix(b"HTTP/1.")?;
    StatusCode::from_bytes(rest.get(2..5)?).ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::{Pin, pin};
    use std::task::Waker;

    use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
    use tokio::net::UnixStream;
    use tokio::task::{LocalSet, spawn_local};
    use tokio::time::timeout;

    use super::*;
    use crate::server::Server;
    use carat_exchange::{ClientMemory, EdgeApplication, WorkerTunnels};

    const LIMIT: u64 = 1024 * 1024;

    /// A client that sends without end if `sends` is true, and takes `room` more bytes.
    struct Client {
        sends: bool,
        room: Rc<Cell<usize>>,
    }

    impl AsyncRead for Client {
        fn poll_read(
            self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            room: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            if !self.sends {
                return Poll::Pending;
            }
            room.put_slice(&[0; 1024]);
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Client {
        fn poll_write(
            self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let room = &self.room;
            let taken = bytes.len().min(room.get());
            room.set(room.get() - taken);
            if taken == 0 {
                return Poll::Pending;
            }
            Poll::Ready(Ok(taken))
        }

        fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl TunnelClient for Client {
        fn poll_gone(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
            Poll::Pending
        }

        fn poll_readable(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            if self.sends {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            }
        }

        fn held_bytes(&mut self, is_held_back: bool) -> usize {
            if is_held_back { 128 * 1024 } else { 0 }
        }
    }

    #[derive(Debug)]
    struct NoLog;

    impl TunnelLog for NoLog {
        fn responded(&mut self, _status: StatusCode) {}
        fn sent(&mut self, _bytes: usize) {}
        fn ended(&mut self, _reason: &'static str) {}
    }

    /// The ends of a tunnel between a client and a socket that is the application's.
    fn ends(memory: &Rc<ClientMemory>, application: UnixStream) -> TunnelEnds {
        let state = Rc::new(ConnectionState::new(memory.account()));
        state.begin_message();
        let application = Application::Worker(application);
        let place = WorkerTunnels::default().open();
        TunnelEnds::of_stream(application, place, Box::new(NoLog), Vec::new(), state)
    }

    fn locally(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), test);
    }

    async fn serve(
        client: &mut Client,
        ends: TunnelEnds,
        deadline: &Rc<Deadline>,
        server: &Server,
    ) -> TunnelEnd {
        serve_tunnel(client, ends, deadline, &server.settings, &server.active).await
    }

    /// The second, of 1000, in which the server gives up a client that takes `bytes_per_second`. The process stands
    /// still for `pause` before the first one.
    async fn given_up_after(bytes_per_second: usize, pause: Duration) -> Option<u32> {
        let memory = ClientMemory::new(LIMIT);
        let server = Server::plain(&memory);
        let (near, mut far) = UnixStream::pair().expect("a pair");
        let ends = ends(&memory, near);
        let deadline = Rc::new(server.deadlines.deadline());
        let room = Rc::new(Cell::new(0));
        let mut client = Client {
            sends: false,
            room: Rc::clone(&room),
        };
        let mut tunnel = pin!(serve(&mut client, ends, &deadline, &server));
        spawn_local(async move { while far.write_all(&[0; 16 * 1024]).await.is_ok() {} });
        while memory.used() == 0 {
            assert!(timeout(Duration::ZERO, &mut tunnel).await.is_err());
        }
        tokio::time::advance(pause).await;
        for second in 0..1000 {
            room.set(room.get() + bytes_per_second);
            if timeout(Duration::ZERO, &mut tunnel).await.is_ok() {
                return Some(second);
            }
            let now = clock::now();
            server.deadlines.take_freeze(now);
            server.deadlines.tick(now);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        None
    }

    #[test]
    fn time_in_which_the_process_stood_still_does_not_count() {
        locally(async {
            let pause = Duration::from_secs(300);
            assert_eq!(given_up_after(1024, pause).await, None);
        });
    }

    #[test]
    fn a_client_of_a_tunnel_is_judged_by_its_rate() {
        locally(async {
            assert_eq!(given_up_after(1024, Duration::ZERO).await, None);
            assert_eq!(given_up_after(1024 * 1024, Duration::ZERO).await, None);
            assert!(given_up_after(512, Duration::ZERO).await.is_some());
        });
    }

    #[test]
    fn a_tunnel_whose_application_does_not_read_goes_when_memory_is_used_up() {
        locally(async {
            let memory = ClientMemory::new(LIMIT);
            let server = Server::plain(&memory);
            let (near, _deaf) = UnixStream::pair().expect("a pair");
            let ends = ends(&memory, near);
            let deadline = Rc::new(server.deadlines.deadline());
            let mut client = Client {
                sends: true,
                room: Rc::default(),
            };
            let mut tunnel = pin!(serve(&mut client, ends, &deadline, &server));
            let cx = &mut Context::from_waker(Waker::noop());
            while memory.used() == 0 {
                assert!(tunnel.as_mut().poll(cx).is_pending());
                tokio::task::yield_now().await;
            }
            assert!(memory.used() > 128 * 1024);

            let other = memory.account();
            other.take(LIMIT);
            // It has moved nothing since the first look.
            let now = clock::now();
            for seconds in 0..3 {
                server.active.tick(now + Duration::from_secs(seconds));
            }
            let end = tunnel.as_mut().poll(cx);
            assert_eq!(end, Poll::Ready(TunnelEnd::Stuck));
            other.give_back(LIMIT);
        });
    }

    /// A part of the edge that holds much, and says why it ends.
    #[derive(Debug, Default)]
    struct Holder {
        farewell: Option<&'static [u8]>,
    }

    impl AsyncRead for Holder {
        fn poll_read(
            self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            room: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let Some(farewell) = self.get_mut().farewell.as_mut() else {
                return Poll::Pending;
            };
            room.put_slice(replace(farewell, b""));
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Holder {
        fn poll_write(
            self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl EdgeApplication for Holder {
        fn held_bytes(&self) -> usize {
            UNLISTED_BYTES + 1
        }

        fn end(&self) -> Option<&'static str> {
            self.farewell.map(|_| "others need it")
        }

        fn make_room(&mut self) {
            self.farewell = Some(b"farewell");
        }
    }

    #[test]
    fn a_part_of_the_edge_that_holds_much_goes_before_who_asks_and_says_so() {
        for (room, expected) in [(100, TunnelEnd::Complete), (0, TunnelEnd::Stuck)] {
            locally(async move {
                let memory = ClientMemory::new(LIMIT);
                let server = Server::plain(&memory);
                let state = Rc::new(ConnectionState::new(memory.account()));
                state.begin_message();
                let application = Application::Edge(Box::<Holder>::default());
                let place = WorkerTunnels::default().open();
                let log = Box::new(NoLog);
                let ends = TunnelEnds::of_stream(application, place, log, Vec::new(), state);
                let deadline = Rc::new(server.deadlines.deadline());
                let room = Rc::new(Cell::new(room));
                let mut client = Client {
                    sends: false,
                    room: Rc::clone(&room),
                };
                let mut tunnel = pin!(serve(&mut client, ends, &deadline, &server));
                let cx = &mut Context::from_waker(Waker::noop());
                assert!(tunnel.as_mut().poll(cx).is_pending());
                assert_eq!(memory.used(), UNLISTED_BYTES as u64 + 1);

                let busy = memory.account();
                busy.take(LIMIT - 8000);
                let asks = memory.account();
                let _wait = asks.pause(100, clock::now());
                tokio::time::advance(Duration::from_secs(1)).await;
                server.active.tick(clock::now());
                let mut end = tunnel.as_mut().poll(cx);
                for _ in 0..10 {
                    tokio::time::advance(Duration::from_secs(1)).await;
                    server.deadlines.tick(clock::now());
                    if end.is_pending() {
                        end = tunnel.as_mut().poll(cx);
                    }
                }
                assert_eq!(end, Poll::Ready(expected));
                busy.give_back(LIMIT - 8000);
            });
        }
    }

    #[test]
    fn the_status_of_a_raw_response_is_at_its_beginning() {
        let status = |text: &str| status_of(text.as_bytes()).map(|status| status.as_u16());
        assert_eq!(status("HTTP/1.1 101 Switching Protocols\r\n"), Some(101));
        assert_eq!(status("HTTP/1.0 200 OK\r\n"), Some(200));
        for other in ["", "HTTP/1.", "HTTP/1.1 1", "220 hello", "HTTP/1.1 abc"] {
            assert_eq!(status(other), None);
        }
    }
}
