use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_guard::HeaderLimits;
use carat_policy::DescriptorBudget;
use hyper::server::conn::http1;

use super::connection_permits::ConnectionPermits;
use super::parts::{EdgeCore, Farewell, Flag, OtherParts, Part, PartList, Protocols, ServerLife};
use super::steps::Steps;
use crate::time_limits::{ActiveConnections, Deadlines};
use carat_dispatch::{Dispatcher, RequestFigures};
use carat_exchange::{ClientMemory, clock};
use carat_log::Log;
use carat_settings::Settings;

/// How long a client that is connected may take to send its first request once the server drains. A proxy connects
/// because it has a request, and does not repeat a POST whose connection ends. At most half of the time of the stop is
/// spent on this.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// The smallest buffer that hyper accepts.
const HYPER_BUFFER_MIN: usize = 8 * 1024;
/// How many headers hyper parses without an allocation.
const HYPER_INLINE_HEADERS: usize = 100;

/// The state that all connections share.
pub struct Server {
    /// The settings from the configuration.
    pub(crate) settings: Rc<Settings>,
    /// The log of the server.
    pub(crate) log: Rc<Log>,
    pub(super) steps: Rc<Steps>,
    /// The parts that are switched on.
    pub(crate) parts: Rc<PartList>,
    pub(crate) deadlines: Rc<Deadlines>,
    /// Hands requests to workers.
    pub(crate) dispatcher: Rc<Dispatcher>,
    memory: Rc<ClientMemory>,
    pub(super) active: ActiveConnections,
    pub(super) http1: http1::Builder,
    /// The protocols other than HTTP/1.1.
    pub(super) protocols: Protocols,
    pub(super) permits: ConnectionPermits,
    /// Set when clients are not accepted any more.
    pub(super) closed: Flag,
    pub(super) draining: Flag,
    /// The time until which clients may begin their first request, once the server drains.
    first_requests_until: Cell<Option<Instant>>,
    /// Set when the server drains and clients get no more time for their first request.
    pub(super) first_requests_over: Flag,
    has_handed_over: Cell<bool>,
    /// The state of the server: when it started, whether it accepts clients, and whether another edge has taken its
    /// place.
    pub(crate) life: Rc<ServerLife>,
}

impl Server {
    /// A server without clients. It accepts them once its life opens.
    pub fn new(core: &EdgeCore, parts: PartList, budget: &DescriptorBudget) -> Rc<Server> {
        let (settings, log, dispatcher) = (&core.settings, &core.log, &core.dispatch.dispatcher);
        let parts = Rc::new(parts);
        let observers = parts.iter().filter_map(Part::observer);
        core.access_log.show_to(observers.collect());
        let all: Rc<dyn OtherParts> = Rc::<PartList>::clone(&parts);
        parts
            .iter()
            .for_each(|part| part.meet(&Rc::downgrade(&all)));
        let steps = Steps::new(core, &parts);
        Rc::new(Server {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            deadlines: Deadlines::new(),
            active: ActiveConnections::new(
                core.dispatch.client_memory(),
                Rc::<PartList>::clone(&parts),
            ),
            steps,
            protocols: parts.iter().filter_map(Part::protocol).collect(),
            parts,
            dispatcher: Rc::clone(dispatcher),
            memory: Rc::clone(core.dispatch.client_memory()),
            http1: http1(settings),
            permits: ConnectionPermits::new(budget),
            closed: Flag::default(),
            draining: Flag::default(),
            first_requests_until: Cell::default(),
            first_requests_over: Flag::default(),
            has_handed_over: Cell::default(),
            life: Rc::clone(&core.life),
        })
    }

    /// The settings from the configuration.
    pub fn settings(&self) -> &Rc<Settings> {
        &self.settings
    }

    /// The log of the server.
    pub fn log(&self) -> &Rc<Log> {
        &self.log
    }

    /// The parts that are switched on.
    pub fn parts(&self) -> &Rc<PartList> {
        &self.parts
    }

    /// Hands requests to workers.
    pub fn dispatcher(&self) -> &Rc<Dispatcher> {
        &self.dispatcher
    }

    /// The figures of the requests.
    pub fn figures(&self) -> RequestFigures<'_> {
        self.dispatcher.figures()
    }

    /// The state of the server: when it started, whether it accepts clients, and whether another edge has taken its
    /// place.
    pub fn life(&self) -> &Rc<ServerLife> {
        &self.life
    }

    /// The limits on the headers of a request.
    pub(super) fn header_limits(&self) -> HeaderLimits {
        HeaderLimits {
            max_header_bytes: self.settings.max_header_bytes,
            max_headers: self.settings.max_headers,
            max_uri: self.settings.max_uri,
        }
    }

    /// Sets the numbers of permits to another budget.
    pub fn divide_files(&self, budget: &DescriptorBudget) {
        self.permits.resize(budget);
    }

    /// Keeps what clients make the edge hold within `client_memory`. Never returns.
    pub async fn watch_memory(self: Rc<Self>) -> io::Result<()> {
        self.active.watch().await;
        Ok(())
    }

    /// Continues to serve, but closes each connection after its next response, and refuses the readiness checks of load
    /// balancers.
    pub fn turn_away(&self) {
        self.release_requests();
        self.steps.end.turns_away.set(true);
        self.steps.readiness.end();
        self.leave_clients(Farewell::TurnsAway);
    }

    /// Leaves new clients to another edge. Connected clients are served until each has got a response that tells it to
    /// reconnect.
    pub fn hand_over(&self) {
        self.dispatcher.release_hold(clock::now());
        self.dispatcher.drain_tunnels();
        self.steps.end.turns_away.set(true);
        self.leave_clients(Farewell::HandsOver);
        self.has_handed_over.set(true);
        self.closed.set();
    }

    /// Whether another server accepts the clients.
    pub(super) fn has_handed_over(&self) -> bool {
        self.has_handed_over.get()
    }

    /// Notes that another server answers on the control socket from now on.
    pub fn leave(&self) {
        self.life.leave();
    }

    /// Whether another server answers on the control socket.
    pub fn has_left(&self) -> bool {
        self.life.has_left()
    }

    /// Whether clients are to go elsewhere with their next request.
    pub(super) fn turns_away(&self) -> bool {
        self.steps.end.turns_away.get()
    }

    /// Accepts no more connections, and closes each one after its current response, all within this time.
    pub fn drain(&self, within: Duration) {
        self.release_requests();
        self.dispatcher.drain_tunnels();
        self.leave_clients(Farewell::Drains(within));
        self.closed.set();
        self.draining.set();
        let first_requests = FIRST_REQUEST.min(within / 2);
        self.first_requests_until
            .set(Some(clock::now() + first_requests));
        self.deadlines.wake_all();
    }

    /// Ends all holds, because the server stops: requests wait neither for the end of a pause nor for new code.
    fn release_requests(&self) {
        self.dispatcher.release_hold(clock::now());
        self.dispatcher.renewal().stop();
        self.dispatcher.end_renewal();
    }

    fn leave_clients(&self, farewell: Farewell) {
        let parts = self.parts.iter();
        parts.for_each(|part| part.leave_clients(farewell));
    }

    /// Ends the connections that have no request yet.
    pub(super) fn end_first_requests(&self) {
        self.first_requests_until.set(None);
        self.first_requests_over.set();
        self.deadlines.wake_all();
    }

    /// Returns how long the server stood still, once after it did. Called before any timeout is checked.
    pub fn take_freeze(&self) -> Option<Duration> {
        let now = clock::now();
        let frozen = self.deadlines.take_freeze(now)?;
        let until = self.first_requests_until.get();
        self.first_requests_until
            .set(until.map(|until| until + frozen));
        self.dispatcher.note_freeze(now, frozen);
        let seconds = format!("{:.1}", frozen.as_secs_f64());
        self.log
            .warn("the server stood still", &[("seconds", &seconds)]);
        Some(frozen)
    }

    /// Enforces timeouts, and writes the gathered log lines. Called once a tick. Returns false if the server stood
    /// still before: nothing is overdue then, because bytes that arrived meanwhile are read first.
    pub fn tick(&self) -> bool {
        let now = clock::now();
        let was_frozen = self.deadlines.tick(now);
        if !was_frozen {
            self.dispatcher.tick();
            self.active.tick(now);
            self.parts.iter().for_each(Part::tick);
            if self.first_requests_until.get().is_some_and(|at| now >= at) {
                self.end_first_requests();
            }
        }
        self.report();
        self.log.flush();
        !was_frozen
    }

    /// The bytes that clients may make the edge hold, and the bytes that parts may hold.
    pub fn held_limit(&self) -> u64 {
        let parts = self.parts.memory_limit();
        self.client_memory().own_limit().saturating_add(parts)
    }

    /// The memory that clients make the edge hold.
    pub fn client_memory(&self) -> &Rc<ClientMemory> {
        &self.memory
    }

    /// Logs once a tick how many clients and requests were refused.
    fn report(&self) {
        let memory = self.client_memory();
        let refused = memory.take_refused();
        if refused > 0 {
            self.log.warn(
                "client memory used up",
                &[
                    ("refused", &refused),
                    ("used", &memory.used()),
                    ("client_memory", &memory.limit()),
                ],
            );
        }
        let quota = self.dispatcher.spool_quota();
        let refused = quota.take_refused();
        if refused > 0 {
            self.log.warn(
                "spool full",
                &[
                    ("refused", &refused),
                    ("spool_limit", &self.settings.spool_limit),
                ],
            );
        }
        let refused = quota.take_refused_files();
        if refused > 0 {
            self.log.warn(
                "too many request bodies in files: the limit of open files allows no more",
                &[("refused", &refused), ("files", &quota.file_limit)],
            );
        }
    }

    /// How many clients are connected.
    pub fn connections(&self) -> usize {
        self.permits.clients()
    }

    /// Whether no client is connected, or about to be.
    pub fn is_idle(&self) -> bool {
        self.permits.taken() == 0
    }
}

/// hyper's settings for every connection.
fn http1(settings: &Settings) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // The buffer must hold the headers, which the guard passes at once, and one read.
    let buffer = settings.max_header_bytes.max(settings.body_buffer);
    builder
        .header_read_timeout(None)
        .max_buf_size(buffer.max(HYPER_BUFFER_MIN))
        // The limit also applies to trailers, which the guard has measured. By default hyper ends a body with more than
        // 16 KiB of them.
        .max_header_size(settings.max_header_bytes + 1);
    if settings.max_headers > HYPER_INLINE_HEADERS {
        builder.max_headers(settings.max_headers);
    }
    builder
}

#[cfg(any(test, feature = "fixture"))]
impl Server {
    /// A server with plain settings, which nobody drives.
    pub fn plain(memory: &Rc<ClientMemory>) -> Rc<Server> {
        let budget = DescriptorBudget {
            connections: 1,
            replies: 1,
            further_replies: 1,
            closing: 0,
            spools: 1,
        };
        let settings = Rc::new(Settings {
            max_header_bytes: 1024,
            max_headers: 10,
            max_uri: 1024,
            write_min_rate: 1024,
            ..Settings::plain()
        });
        let log = Rc::new(Log::open(&settings).expect("a log"));
        let (lanes, _) = carat_dispatch::LaneEvents::channel();
        let dispatcher = Dispatcher::new(&settings, &log, lanes, &budget, Rc::clone(memory));
        let core = EdgeCore::new(&settings, &log, dispatcher, Rc::clone(memory));
        let server = Server::new(&core, PartList::default(), &budget);
        server.life.open();
        server
    }
}

#[cfg(feature = "fixture")]
impl Server {
    /// A simulated client connects. It leaves when the result is dropped.
    pub async fn connect(&self) -> impl Sized + use<> {
        self.permits.take().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stop_waits_for_no_other_code_although_it_serves_no_delay_before() {
        let server = Server::plain(&ClientMemory::new(u64::MAX));
        let renewal = Rc::clone(server.dispatcher.renewal());
        renewal.hold_requests(Duration::from_secs(60));
        server.drain(Duration::from_secs(1));
        assert!(renewal.is_over() && !renewal.is_on());
    }
}
