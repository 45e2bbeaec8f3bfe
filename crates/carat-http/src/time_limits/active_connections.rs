use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_policy::{HolderStage, MemoryDemand, MemoryHolder, relief};

use crate::time_limits::allocator_use::AllocatorUse;
use crate::time_limits::deadlines::Deadline;
use carat_exchange::{ClientMemory, ConnectionPhase, ConnectionState, Refusal, clock};

/// How often the progress of all connections is measured.
const LOOK: Duration = Duration::from_millis(250);

/// The connections that are being served. When clients make the edge hold too much memory, the connections with the
/// least progress are ended.
pub struct ActiveConnections {
    memory: Rc<ClientMemory>,
    /// The parts whose memory is freed before any client has to give way.
    lenders: Rc<dyn Lenders>,
    allocator: AllocatorUse,
    entries: RefCell<Vec<Option<ActiveConnection>>>,
    free: RefCell<Vec<usize>>,
    looked: Cell<Option<Instant>>,
}

/// Memory that is held for others than clients, and left to clients while they need it.
pub(crate) trait Lenders {
    /// The bytes that are held.
    fn held(&self) -> u64;

    /// Leaves memory to clients, or takes it again. Returns the bytes that clients may use.
    fn give_way(&self, gives_way: bool) -> u64;
}

struct ActiveConnection {
    state: Rc<ConnectionState>,
    deadline: Rc<Deadline>,
    /// The bytes that the connection had moved at the last look.
    seen: u64,
    /// The bytes moved between the last two looks; `None` for a new connection.
    moved: Option<u64>,
}

/// The streams of a connection that has several. The bytes of streams that were already told to end do not count in
/// `held`.
#[derive(Default)]
struct StreamTotals {
    held: u64,
    /// Whether the application works for one of them.
    is_at_work: bool,
}

type StreamsByConnection = HashMap<*const ConnectionState, StreamTotals>;

/// A connection in the list. Dropping it removes the connection.
pub struct ActiveGuard<'a> {
    connections: &'a ActiveConnections,
    index: usize,
}

impl ActiveConnections {
    pub(crate) fn new(memory: &Rc<ClientMemory>, lenders: Rc<dyn Lenders>) -> ActiveConnections {
        ActiveConnections {
            memory: Rc::clone(memory),
            lenders,
            allocator: AllocatorUse::default(),
            entries: RefCell::default(),
            free: RefCell::default(),
            looked: Cell::default(),
        }
    }

    /// Adds a connection.
    pub fn add(&self, state: &Rc<ConnectionState>, deadline: &Rc<Deadline>) -> ActiveGuard<'_> {
        let connection = Some(ActiveConnection {
            state: Rc::clone(state),
            deadline: Rc::clone(deadline),
            seen: 0,
            moved: None,
        });
        let mut entries = self.entries.borrow_mut();
        let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
            entries.push(None);
            entries.len() - 1
        });
        entries[index] = connection;
        ActiveGuard {
            connections: self,
            index,
        }
    }

    /// Resumes connections that wait for memory, and ends others when memory is used up. Called once a tick.
    pub(crate) fn tick(&self, now: Instant) {
        let looked = self.looked.get();
        if looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOK) {
            self.looked.set(Some(now));
            self.look();
        }
        self.measure(now);
        self.memory.resume();
        let demand = self.memory.demand(now);
        let is_used_up = demand.used > demand.limit || self.memory.has_refused();
        if demand.wanted > 0 || is_used_up {
            self.relieve(now);
        }
    }

    /// Ends connections between two ticks, when clients come, or responses arrive, too fast for the tick. Never
    /// returns.
    pub(crate) async fn watch(&self) {
        loop {
            self.memory.alarm().await;
            let now = clock::now();
            self.measure(now);
            self.relieve(now);
        }
    }

    /// Measures the bytes that the allocator holds for clients beyond the counted ones. If there are many, parts leave
    /// their memory to clients.
    fn measure(&self, now: Instant) {
        let memory = &self.memory;
        let (counted, lent) = (memory.counted(), self.lenders.held());
        let limit = memory.limit();
        let uncounted = self.allocator.uncounted(counted, lent, limit, now);
        memory.set_uncounted(uncounted);
        memory.lend(self.lenders.give_way(memory.needs_more()));
    }

    fn look(&self) {
        for connection in self.entries.borrow_mut().iter_mut().flatten() {
            let bytes = connection.state.bytes.moved();
            connection.moved = Some(bytes - connection.seen);
            connection.seen = bytes;
        }
    }

    /// Parks idle connections, and refuses others, until memory suffices.
    fn relieve(&self, now: Instant) {
        let mut demand = in_counted_bytes(self.memory.demand(now), self.memory.counted());
        let entries = self.entries.borrow();
        let streams = StreamTotals::by_connection(entries.iter().flatten());
        let mut candidates = Vec::new();
        let mut holders = Vec::new();
        for connection in entries.iter().flatten() {
            if connection.is_leaving() {
                let held = connection.held_with(&streams);
                demand.used = demand.used.saturating_sub(held);
            } else if connection.is_of_leaving() {
                // The stream's bytes are counted with its connection.
            } else if let Some(holder) = connection.holder_with(&streams) {
                candidates.push(connection);
                holders.push(holder);
            }
        }
        let mut refused = 0;
        for index in relief(&holders, &demand) {
            refused += u64::from(holders[index].stage != HolderStage::Idle);
            candidates[index].relieve();
        }
        self.memory.note_refused(refused);
        self.memory.postpone_alarm();
    }
}

/// The demand in counted bytes. The uncounted bytes are divided among the counted ones in proportion, so that no other
/// connection has to give way for them.
fn in_counted_bytes(demand: MemoryDemand, counted: u64) -> MemoryDemand {
    let part = |bytes: u64| {
        let part = u128::from(bytes) * u128::from(counted) / u128::from(demand.used.max(1));
        u64::try_from(part).unwrap_or(bytes)
    };
    if demand.used <= counted {
        return demand;
    }
    MemoryDemand {
        limit: part(demand.limit),
        used: counted,
        wanted: part(demand.wanted),
        wanted_first: part(demand.wanted_first),
    }
}

impl StreamTotals {
    fn by_connection<'a>(
        entries: impl Iterator<Item = &'a ActiveConnection>,
    ) -> StreamsByConnection {
        let mut totals = StreamsByConnection::new();
        for stream in entries {
            if let Some(connection) = stream.state.connection() {
                let total = totals.entry(Rc::as_ptr(connection)).or_default();
                if !stream.is_leaving() {
                    total.held += stream.state.memory().held();
                }
                // The edge itself serves such a tunnel, so its stream can be ended alone.
                let is_served = stream.holder().is_none() || stream.state.is_edge_tunnel();
                total.is_at_work |= is_served && !stream.is_leaving();
            }
        }
        totals
    }
}

impl ActiveConnection {
    /// Whether the connection was already told to end.
    fn is_leaving(&self) -> bool {
        is_leaving(&self.state)
    }

    /// Whether this is a stream of a connection that was already told to end.
    fn is_of_leaving(&self) -> bool {
        self.state.connection().is_some_and(|it| is_leaving(it))
    }

    /// The memory that the connection holds with its streams. If the application works for none of the streams, the
    /// connection is ended as a whole, because its tables would stay otherwise. If it works for some, each stream is
    /// ended by itself.
    fn holder_with(&self, streams: &StreamsByConnection) -> Option<MemoryHolder> {
        let of = |state: &Rc<ConnectionState>| streams.get(&Rc::as_ptr(state));
        if let Some(siblings) = self.state.connection().and_then(of) {
            return self.holder().filter(|_| siblings.is_at_work);
        }
        match of(&self.state) {
            None => self.holder(),
            // While the socket accepts nothing, even finished responses of the application wait for it.
            Some(own) if own.is_at_work && self.state.phase() != ConnectionPhase::Writing => None,
            Some(_) => Some(self.holder_of(HolderStage::Client, self.held_with(streams))),
        }
    }

    fn held_with(&self, streams: &StreamsByConnection) -> u64 {
        let own = streams.get(&Rc::as_ptr(&self.state));
        self.state.memory().held() + own.map_or(0, |own| own.held)
    }

    /// The memory that the connection holds. `None` while the application works for it, because a request that has
    /// begun is not refused.
    fn holder(&self) -> Option<MemoryHolder> {
        let memory = self.state.memory();
        if self.state.is_edge_tunnel() {
            return Some(self.holder_of(HolderStage::Tunnel, memory.held()));
        }
        let stage = match self.state.phase() {
            ConnectionPhase::Application => return None,
            ConnectionPhase::Body if self.state.body.is_streamed() => return None,
            ConnectionPhase::Idle => HolderStage::Idle,
            ConnectionPhase::Headers | ConnectionPhase::Body | ConnectionPhase::Writing
                if memory.is_paused() =>
            {
                HolderStage::Paused
            }
            ConnectionPhase::Headers | ConnectionPhase::Body | ConnectionPhase::Writing => {
                HolderStage::Client
            }
        };
        Some(self.holder_of(stage, memory.held()))
    }

    fn holder_of(&self, stage: HolderStage, held: u64) -> MemoryHolder {
        let latest = self.state.bytes.moved() - self.seen;
        MemoryHolder {
            stage,
            held,
            moved: self.moved.map_or(u64::MAX, |moved| moved.max(latest)),
        }
    }

    fn relieve(&self) {
        match self.state.phase() {
            _ if self.state.is_edge_tunnel() => {
                self.state.end.refuse(Refusal::ClientMemory);
                self.deadline.expire();
            }
            ConnectionPhase::Idle => self.deadline.expire(),
            ConnectionPhase::Writing => {
                self.state.end.refuse(Refusal::ClientMemory);
                self.deadline.expire();
            }
            ConnectionPhase::Headers | ConnectionPhase::Body | ConnectionPhase::Application => {
                self.state.end.refuse(Refusal::ClientMemory);
                self.deadline.wake();
            }
        }
    }
}

fn is_leaving(state: &ConnectionState) -> bool {
    state.end.refusal() == Some(Refusal::ClientMemory)
}

impl Drop for ActiveGuard<'_> {
    fn drop(&mut self) {
        self.connections.entries.borrow_mut()[self.index] = None;
        self.connections.free.borrow_mut().push(self.index);
    }
}

#[cfg(test)]
mod tests {
    use carat_guard::MessagePosition;

    use super::*;
    use crate::time_limits::deadlines::Deadlines;

    const LIMIT: u64 = 8000;

    /// Nobody who holds memory for others than clients.
    struct NoLenders;

    impl Lenders for NoLenders {
        fn held(&self) -> u64 {
            0
        }

        fn give_way(&self, _gives_way: bool) -> u64 {
            0
        }
    }

    /// The connections of some clients, each of which holds 1000 bytes.
    struct Scene {
        memory: Rc<ClientMemory>,
        connections: ActiveConnections,
        deadline: Rc<Deadline>,
        start: Instant,
    }

    impl Scene {
        fn new() -> Scene {
            let memory = ClientMemory::new(LIMIT);
            Scene {
                connections: ActiveConnections::new(&memory, Rc::new(NoLenders)),
                deadline: Rc::new(Deadlines::new().deadline()),
                memory,
                start: Instant::now(),
            }
        }

        fn client(&self, position: MessagePosition) -> (Rc<ConnectionState>, ActiveGuard<'_>) {
            let state = Rc::new(ConnectionState::new(self.memory.account()));
            state.body.set_position(position);
            state.bytes.count_received(2000);
            state.memory().take(1000);
            let guard = self.connections.add(&state, &self.deadline);
            (state, guard)
        }

        fn clients(&self, count: usize) -> Vec<(Rc<ConnectionState>, ActiveGuard<'_>)> {
            std::iter::repeat_with(|| self.client(MessagePosition::InHeaders))
                .take(count)
                .collect()
        }
    }

    fn refused(clients: &[(Rc<ConnectionState>, ActiveGuard<'_>)]) -> Vec<bool> {
        let refusals = clients.iter().map(|(state, _)| state.end.refusal());
        refusals
            .map(|refusal| refusal == Some(Refusal::ClientMemory))
            .collect()
    }

    #[test]
    fn above_the_limit_those_go_that_moved_nothing_within_the_last_second() {
        let scene = Scene::new();
        let clients = scene.clients(8);
        scene.connections.tick(scene.start);
        scene.connections.tick(scene.start + LOOK);
        clients[3].0.bytes.count_received(5000);
        assert!(!refused(&clients).contains(&true));

        let late = scene.client(MessagePosition::InHeaders);
        scene.connections.tick(scene.start + LOOK);
        let gone = refused(&clients);
        assert_eq!(gone.iter().filter(|gone| **gone).count(), 3);
        assert!(!gone[3] && late.0.end.refusal().is_none());
        assert_eq!(scene.memory.take_refused(), 3);

        scene.connections.tick(scene.start + LOOK);
        assert_eq!(scene.memory.take_refused(), 0, "they are leaving already");
    }

    #[test]
    fn a_request_that_the_application_has_is_left_alone() {
        let scene = Scene::new();
        let clients: Vec<_> = std::iter::repeat_with(|| {
            let client = scene.client(MessagePosition::BetweenMessages);
            client.0.begin_message();
            client
        })
        .take(9)
        .collect();
        scene.connections.tick(scene.start);
        scene.connections.tick(scene.start + LOOK);
        assert!(scene.memory.used() > LIMIT && !refused(&clients).contains(&true));
        clients[0].0.body.set_position(MessagePosition::InBody);
        clients[0].0.body.pause(false);
        scene.connections.tick(scene.start + LOOK);
        assert!(!refused(&clients).contains(&true), "its body is streamed");
    }

    #[test]
    fn a_connection_whose_streams_all_wait_for_its_client_goes_as_a_whole() {
        let scene = Scene::new();
        let busy = scene.client(MessagePosition::BetweenMessages);
        let stuck = scene.client(MessagePosition::BetweenMessages);
        let stream_of = |connection: &Rc<ConnectionState>, is_stuck| {
            connection.begin_message();
            let state = ConnectionState::of_stream(scene.memory.account(), connection);
            state.begin_message();
            state.set_write_blocked(is_stuck);
            state.memory().take(1500);
            let state = Rc::new(state);
            let guard = scene.connections.add(&state, &scene.deadline);
            (state, guard)
        };
        let at_work = stream_of(&busy.0, false);
        let waiting: Vec<_> = [&busy.0, &stuck.0, &stuck.0]
            .map(|connection| stream_of(connection, true))
            .into();
        scene.connections.tick(scene.start);
        scene.connections.tick(scene.start + LOOK);
        scene.memory.refuse();
        scene.connections.relieve(scene.start + LOOK);
        let connections = [stuck, busy];
        assert_eq!(refused(&connections), [true, false]);
        assert_eq!(refused(&waiting), [false, false, false]);

        at_work.0.memory().take(3000);
        scene.connections.relieve(scene.start + LOOK);
        assert_eq!(refused(&waiting), [true, false, false]);
        assert_eq!(at_work.0.end.refusal(), None);

        let [_, (busy, _)] = connections;
        busy.set_write_blocked(true);
        at_work.0.memory().take(9000);
        scene.connections.relieve(scene.start + LOOK);
        assert_eq!(busy.end.refusal(), Some(Refusal::ClientMemory));
    }

    #[test]
    fn the_largest_tunnels_of_the_edge_go_by_themselves_before_who_asks() {
        let scene = Scene::new();
        let proxy = scene.client(MessagePosition::BetweenMessages);
        let tunnel_of = |connection: Option<&Rc<ConnectionState>>, held| {
            let account = scene.memory.account();
            let state = match connection {
                Some(connection) => ConnectionState::of_stream(account, connection),
                None => ConnectionState::new(account),
            };
            state.begin_message();
            state.begin_edge_tunnel();
            state.memory().take(held);
            let state = Rc::new(state);
            let guard = scene.connections.add(&state, &scene.deadline);
            (state, guard)
        };
        proxy.0.begin_message();
        let tunnels = [
            tunnel_of(Some(&proxy.0), 2500),
            tunnel_of(Some(&proxy.0), 100),
            tunnel_of(None, 3000),
            tunnel_of(None, 200),
        ];
        let asks = scene.client(MessagePosition::InHeaders);
        let _wait = asks.0.memory().pause(100, scene.start);
        scene.connections.tick(scene.start);
        for (number, gone) in [
            (1, [false, false, true, false]),
            (2, [true, false, true, false]),
        ] {
            scene
                .connections
                .relieve(scene.start + number * Duration::from_secs(1));
            assert_eq!(refused(&tunnels), gone);
            asks.0.memory().take(2500);
        }
        assert_eq!((proxy.0.end.refusal(), asks.0.end.refusal()), (None, None));
    }

    #[test]
    fn what_a_connection_that_goes_holds_is_counted_once() {
        let scene = Scene::new();
        let going = scene.client(MessagePosition::BetweenMessages);
        going.0.begin_message();
        let streams: Vec<_> = [true, false]
            .map(|goes| {
                let state = ConnectionState::of_stream(scene.memory.account(), &going.0);
                state.begin_message();
                state.memory().take(1500);
                let state = Rc::new(state);
                if goes {
                    state.end.refuse(Refusal::ClientMemory);
                }
                let guard = scene.connections.add(&state, &scene.deadline);
                (state, guard)
            })
            .into();
        going.0.end.refuse(Refusal::ClientMemory);
        // 4000 of the 11 000 bytes are about to go. One more client has to go to bring the rest below three quarters of
        // the limit.
        let clients = scene.clients(7);
        scene.connections.tick(scene.start);
        scene.connections.tick(scene.start + LOOK);
        let more = refused(&clients).iter().filter(|it| **it).count();
        assert_eq!((more, streams[1].0.end.refusal()), (1, None));
    }

    #[test]
    fn a_client_that_has_just_come_goes_after_those_that_move_nothing() {
        let scene = Scene::new();
        let clients = scene.clients(8);
        scene.connections.tick(scene.start);
        scene.connections.tick(scene.start + LOOK);
        let new = scene.client(MessagePosition::InHeaders);
        scene.connections.relieve(scene.start + LOOK);
        assert!(refused(&clients).contains(&true) && new.0.end.refusal().is_none());
    }

    #[test]
    fn idle_connections_are_parked_and_not_refused() {
        let scene = Scene::new();
        let idle = scene.client(MessagePosition::BetweenMessages);
        scene.deadline.set(Duration::from_secs(3600));
        let clients = scene.clients(8);
        scene.connections.tick(scene.start);
        assert!(scene.deadline.passed(std::task::Waker::noop()));
        assert_eq!(idle.0.end.refusal(), None);
        assert_eq!(scene.memory.take_refused(), 0);
        drop(clients);
    }

    #[test]
    fn places_of_connections_that_ended_are_used_again() {
        let scene = Scene::new();
        drop(scene.clients(5));
        let clients = scene.clients(5);
        assert_eq!(scene.connections.entries.borrow().len(), 5);
        drop(clients);
        assert_eq!(scene.memory.used(), 0);
    }
}
