use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::server_life::ServerLife;
use crate::request::{AccessLog, RequestDispatch};
use carat_dispatch::Dispatcher;
use carat_exchange::ClientMemory;
use carat_log::Log;
use carat_settings::Settings;

/// The services of the core on which parts build.
#[derive(Clone)]
pub struct EdgeCore {
    /// The settings from the configuration.
    pub settings: Rc<Settings>,
    /// The log of the server.
    pub log: Rc<Log>,
    /// The dispatch of requests to the application, and the memory that clients may use.
    pub dispatch: Rc<RequestDispatch>,
    /// The access log, also for requests that a part sends to the application.
    pub access_log: AccessLog,
    /// The permits of tunnels: the option `max_tunnels`. `None` without a limit.
    pub tunnel_permits: Option<Arc<Semaphore>>,
    /// The state of the server: when it started, whether it accepts clients, and whether another edge has taken its
    /// place.
    pub life: Rc<ServerLife>,
}

impl EdgeCore {
    /// The core of a server that is about to start.
    pub fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        dispatcher: Rc<Dispatcher>,
        memory: Rc<ClientMemory>,
    ) -> EdgeCore {
        let dispatch = RequestDispatch {
            dispatcher,
            memory,
            stamps: settings.request_start,
        };
        EdgeCore {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            dispatch: Rc::new(dispatch),
            access_log: AccessLog::new(log, settings.access_log),
            tunnel_permits: settings.max_tunnels.map(Semaphore::new).map(Arc::new),
            life: Rc::new(ServerLife::begin()),
        }
    }
}
