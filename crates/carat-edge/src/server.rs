use std::rc::Rc;
use std::sync::Arc;

use carat_guard::HeaderLimits;
use hyper::server::conn::http1;
use tokio::sync::{Semaphore, watch};

use crate::board::Board;
use crate::body::{Encoders, SpoolQuota};
use crate::dispatch::Dispatcher;
use crate::http::{self, AccessLog};
use crate::log::Log;
use crate::settings::Settings;

/// What every connection shares.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) settings: Rc<Settings>,
    pub(crate) log: Rc<Log>,
    pub(crate) access_log: AccessLog,
    pub(crate) board: Rc<Board>,
    pub(crate) dispatcher: Rc<Dispatcher>,
    pub(crate) spool_quota: Rc<SpoolQuota>,
    /// `None` when answers are not to be encoded.
    pub(crate) encoders: Option<Encoders>,
    pub(crate) http1: http1::Builder,
    /// One seat for each connection.
    pub(crate) seats: Arc<Semaphore>,
    pub(crate) draining: Flag,
}

impl Server {
    pub(crate) fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        dispatcher: Rc<Dispatcher>,
    ) -> Rc<Server> {
        Rc::new(Server {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            access_log: AccessLog::new(log, settings.access_log),
            board: Board::new(),
            dispatcher,
            spool_quota: SpoolQuota::new(settings.spool_limit),
            encoders: Encoders::new(settings),
            http1: http::http1(settings),
            seats: Arc::new(Semaphore::new(settings.max_connections)),
            draining: Flag::default(),
        })
    }

    /// The limits on a request's head.
    pub(crate) fn header_limits(&self) -> HeaderLimits {
        HeaderLimits {
            max_header_bytes: self.settings.max_header_bytes,
            max_headers: self.settings.max_headers,
            max_uri: self.settings.max_uri,
        }
    }

    /// Takes no new connection, and ends each after the answer that is under way.
    pub(crate) fn drain(&self) {
        self.draining.set();
        self.board.wake_all();
    }

    /// Ends what is overdue and writes what was gathered. Called once a tick.
    pub(crate) fn tick(&self) {
        self.board.tick();
        self.dispatcher.tick();
        self.report();
        self.log.flush();
    }

    /// Logs once a tick how many requests were refused.
    fn report(&self) {
        let refused = self.spool_quota.take_refused();
        if refused > 0 {
            self.log.warn(
                "spool full",
                &[
                    ("refused", &refused),
                    ("spool_limit", &self.settings.spool_limit),
                ],
            );
        }
    }

    /// Whether no client is connected.
    pub(crate) fn is_idle(&self) -> bool {
        self.seats.available_permits() == self.settings.max_connections
    }
}

/// Something that happens once and is waited for by many.
#[derive(Debug)]
pub(crate) struct Flag(watch::Sender<bool>);

impl Default for Flag {
    fn default() -> Self {
        Flag(watch::Sender::new(false))
    }
}

impl Flag {
    pub(crate) fn set(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait(&self) {
        // The sender lives as long as the flag, so this ends only when it is set.
        let _ = self.0.subscribe().wait_for(|set| *set).await;
    }
}
