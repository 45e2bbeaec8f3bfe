use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use carat_guard::HeaderLimits;
use carat_policy::DescriptorBudget;
use http::Response;
use hyper::server::conn::http1;
use tokio::sync::{Notify, Semaphore, watch};

use super::access::AccessLog;
use super::active_connections::ActiveConnections;
use super::deadlines::Deadlines;
use super::force_tls::ForceTls;
use super::handshakes::Handshakes;
use super::http1::http1;
use super::http2::Http2;
use super::request_start;
use super::seats::Seats;
use super::site_files::SiteFiles;
use crate::body::request::RequestBodies;
use crate::body::response::Encoders;
use crate::clock;
use crate::dispatch::{Dispatcher, PendingReply};
use crate::exchange::{
    Call, ClientMemory, ProxyPolicy, Refusal, Reply, ReplyBody, SpoolReservation,
};
use crate::log::Log;
use crate::settings::Settings;
use crate::url_prefix::UrlPrefix;

/// For how long a client that has connected may send its first request once the server drains. A proxy in front of the
/// server connects because it has one, and does not repeat a POST whose connection ends. At most half of
/// the time that the stop may take.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Rc<Settings>,
    pub(crate) log: Rc<Log>,
    pub(super) access_log: AccessLog,
    pub(super) proxies: ProxyPolicy,
    /// `None` when requests in clear are served.
    pub(super) force_tls: Option<ForceTls>,
    pub(crate) deadlines: Rc<Deadlines>,
    pub(crate) dispatcher: Rc<Dispatcher>,
    pub(super) active: ActiveConnections,
    pub(super) request_bodies: RequestBodies,
    /// `None` when responses are not compressed.
    pub(super) encoders: Option<Rc<Encoders>>,
    pub(crate) files: SiteFiles,
    pub(super) http1: http1::Builder,
    pub(super) http2: Http2,
    pub(super) handshakes: Handshakes,
    /// Has the files of certificates looked at.
    pub(crate) renew_certificates: Rc<Notify>,
    pub(super) seats: Seats,
    /// Those of tunnels; `None` without `max_tunnels`.
    pub(super) tunnel_seats: Option<Arc<Semaphore>>,
    /// Clients are accepted from now on.
    opened: Flag,
    /// Clients are not accepted any more.
    pub(super) closed: Flag,
    pub(super) draining: Flag,
    /// Until when clients may begin their first request, once the server drains.
    first_requests_until: Cell<Option<Instant>>,
    /// The server drains, and clients that have not begun a request yet get no more time for it.
    pub(super) first_requests_over: Flag,
    turns_away: Cell<bool>,
    is_unready: Cell<bool>,
    /// Nobody needs the control socket of this server any more.
    left: Flag,
    pub(crate) started: Instant,
}

impl Server {
    pub(crate) fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        dispatcher: Rc<Dispatcher>,
        files: SiteFiles,
        budget: &DescriptorBudget,
    ) -> Rc<Server> {
        Rc::new(Server {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            access_log: AccessLog::new(log, settings.access_log),
            proxies: ProxyPolicy::new(settings),
            force_tls: ForceTls::new(settings),
            deadlines: Deadlines::new(),
            request_bodies: RequestBodies::new(settings, log, &dispatcher.spool_quota),
            active: ActiveConnections::new(&dispatcher.client_memory),
            dispatcher,
            encoders: Encoders::new(settings, log),
            files,
            http1: http1(settings),
            http2: Http2::new(settings),
            handshakes: Handshakes::new(),
            renew_certificates: Rc::default(),
            seats: Seats::new(budget),
            tunnel_seats: settings.max_tunnels.map(Semaphore::new).map(Arc::new),
            opened: Flag::default(),
            closed: Flag::default(),
            draining: Flag::default(),
            first_requests_until: Cell::default(),
            first_requests_over: Flag::default(),
            turns_away: Cell::new(false),
            is_unready: Cell::new(false),
            left: Flag::default(),
            started: clock::now(),
        })
    }

    /// The limits on the headers of a request.
    pub(super) fn header_limits(&self) -> HeaderLimits {
        HeaderLimits {
            max_header_bytes: self.settings.max_header_bytes,
            max_headers: self.settings.max_headers,
            max_uri: self.settings.max_uri,
        }
    }

    /// Passes a request to a worker, or to the queue.
    pub(super) fn dispatch(&self, mut call: Call) -> Result<PendingReply, Refusal> {
        if self.settings.request_start {
            request_start::stamp(&mut call);
        }
        self.dispatcher.dispatch(call)
    }

    /// Keeps what clients make the edge hold within `client_memory`. Never returns.
    pub(crate) async fn watch_memory(self: Rc<Self>) -> io::Result<()> {
        self.active.watch().await;
        Ok(())
    }

    /// Serves on, closes each connection after a response that says so, and refuses the requests by which load balancers
    /// find out whether the server is ready.
    pub(crate) fn turn_away(&self) {
        self.dispatcher.release_hold(clock::now());
        self.dispatcher.stop_reloading();
        self.turns_away.set(true);
        self.is_unready.set(true);
    }

    /// Accepts clients from now on.
    pub(crate) fn open(&self) {
        self.opened.set();
    }

    /// Waits until clients are accepted.
    pub(crate) async fn opened(&self) {
        self.opened.wait().await;
    }

    /// Another server accepts the clients from now on. Serves those that are connected until each one has got a response
    /// that says so.
    pub(crate) fn hand_over(&self) {
        self.dispatcher.release_hold(clock::now());
        self.dispatcher.drain_tunnels();
        self.turns_away.set(true);
        self.closed.set();
    }

    /// Another server answers on the control socket from now on.
    pub(crate) fn leave(&self) {
        self.left.set();
    }

    /// Whether another server answers on the control socket.
    pub(crate) fn has_left(&self) -> bool {
        self.left.is_set()
    }

    /// Waits until another server answers on the control socket.
    pub(crate) async fn left(&self) {
        self.left.wait().await;
    }

    /// Whether clients are to go elsewhere with their next request.
    pub(super) fn turns_away(&self) -> bool {
        self.turns_away.get()
    }

    /// Whether a request with this path asks for a readiness that has ended.
    pub(super) fn is_unready_at(&self, path: &str) -> bool {
        self.is_unready.get() && self.is_readiness(path)
    }

    /// Whether load balancers ask for this path.
    fn is_readiness(&self, path: &str) -> bool {
        let mut targets = self.settings.readiness_path.iter();
        targets.any(|target| target.split('?').next() == Some(path))
    }

    /// Why a request does not reach the application, whatever it contains. Maintenance leaves the checks of load
    /// balancers alone: without a server, clients would not see its page.
    pub(super) fn keeps_out(&self, path: &str) -> Option<Refusal> {
        if self.files.pages.maintenance.is_on() && !self.is_readiness(path) {
            return Some(Refusal::Maintenance);
        }
        let is_outside = |prefix: &UrlPrefix| !prefix.contains(path);
        let prefix = self.settings.prefix.as_ref();
        prefix
            .filter(|prefix| is_outside(prefix))
            .map(|_| Refusal::OutsidePrefix)
    }

    /// Accepts no more connections, and closes each one after its current response, all within this time.
    pub(crate) fn drain(&self, within: Duration) {
        self.dispatcher.release_hold(clock::now());
        self.dispatcher.drain_tunnels();
        self.closed.set();
        self.draining.set();
        let first_requests = FIRST_REQUEST.min(within / 2);
        self.first_requests_until
            .set(Some(clock::now() + first_requests));
        self.deadlines.wake_all();
    }

    /// Ends the connections that have no request yet.
    pub(super) fn end_first_requests(&self) {
        self.first_requests_until.set(None);
        self.first_requests_over.set();
        self.deadlines.wake_all();
    }

    /// Returns how long the server stood still, once after it did. Called before anything is judged by the time.
    pub(crate) fn take_pause(&self) -> Option<Duration> {
        let now = clock::now();
        let pause = self.deadlines.take_pause(now)?;
        let until = self.first_requests_until.get();
        self.first_requests_until
            .set(until.map(|until| until + pause));
        self.dispatcher.note_pause(now, pause);
        let seconds = format!("{:.1}", pause.as_secs_f64());
        self.log
            .warn("the server stood still", &[("seconds", &seconds)]);
        Some(pause)
    }

    /// Ends what is overdue and writes what was gathered. Called once a tick. False when the server stood still before:
    /// nothing is overdue then, because what arrived meanwhile is read first.
    pub(crate) fn tick(&self) -> bool {
        let now = clock::now();
        let has_paused = self.deadlines.tick(now);
        if !has_paused {
            self.dispatcher.tick();
            self.active.tick(now);
            self.files.tick();
            if self.first_requests_until.get().is_some_and(|at| now >= at) {
                self.end_first_requests();
            }
        }
        self.report();
        self.log.flush();
        !has_paused
    }

    /// What clients make the edge hold.
    pub(crate) fn client_memory(&self) -> &Rc<ClientMemory> {
        &self.dispatcher.client_memory
    }

    /// Logs once a tick how many clients and requests were refused.
    fn report(&self) {
        self.handshakes.report(&self.log);
        self.http2.report(&self.log);
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
        let quota = &self.request_bodies.quota;
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
                &[("refused", &refused), ("files", &quota.file_limit())],
            );
        }
    }

    /// The response with a static file, which no worker has seen.
    pub(super) fn file_reply(&self, response: Response<ReplyBody>) -> Reply {
        Reply {
            response,
            spooled: SpoolReservation::of(&self.dispatcher.spool_quota),
            queue_time: Duration::ZERO,
            app_time: Duration::ZERO,
        }
    }

    /// How many clients are connected.
    pub(crate) fn connections(&self) -> usize {
        self.seats.clients()
    }

    /// Whether no client is connected, or about to be.
    pub(crate) fn is_idle(&self) -> bool {
        self.seats.taken() == 0
    }
}

#[cfg(test)]
impl Server {
    /// A server with plain settings, which nobody drives.
    pub(super) fn plain(memory: &Rc<ClientMemory>) -> Rc<Server> {
        let budget = DescriptorBudget {
            connections: 1,
            replies: 1,
            further_replies: 1,
            spools: 1,
        };
        let settings = Rc::new(Settings {
            max_header_bytes: 1024,
            max_headers: 10,
            max_uri: 1024,
            ..Settings::plain()
        });
        let log = Rc::new(Log::open(&settings).expect("a log"));
        let (lanes, _) = crate::dispatch::LaneEvents::channel();
        let dispatcher = Dispatcher::new(&settings, &log, lanes, &budget, Rc::clone(memory));
        let files = SiteFiles::none(&settings, &log);
        let server = Server::new(&settings, &log, dispatcher, files, &budget);
        server.open();
        server
    }
}

#[cfg(test)]
impl Server {
    /// A simulated client connects. It leaves when the result is dropped.
    pub(crate) async fn connect(&self) -> impl Sized + use<> {
        self.seats.take().await
    }
}

/// Something that happens once, and that many tasks wait for.
#[derive(Debug)]
pub(super) struct Flag(watch::Sender<bool>);

impl Default for Flag {
    fn default() -> Self {
        Flag(watch::Sender::new(false))
    }
}

impl Flag {
    fn set(&self) {
        self.0.send_replace(true);
    }

    pub(super) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(super) async fn wait(&self) {
        // The sender lives as long as the flag, so this ends only when the flag is set.
        let _ = self.0.subscribe().wait_for(|set| *set).await;
    }
}
