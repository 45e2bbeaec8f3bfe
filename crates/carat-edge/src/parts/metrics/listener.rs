use std::cell::RefCell;
use std::io;
use std::net::TcpListener as StdTcpListener;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::dashboard;
use super::exposition::{OPEN_METRICS, TEXT_FORMAT, exposition, registry, wants_open_metrics};
use super::gauges::{as_puma, register_utilization};
use super::health::{readiness, startup};
use super::history::History;
use super::request_metrics::RequestMetrics;
use super::utilization::RecentLoad;
use crate::admin::clients::{AdminClient, AdminClients, Responder};
use crate::admin::reply::{refusal, response};
use crate::supervise::{ControlRequest, Mailbox, Message};
use carat_http::{AdminDoor, EdgeCore, Listeners, OtherParts, bind_everywhere};
use carat_log::Log;

/// The time until the next attempt to listen.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The most connections that the kernel accepts ahead of the server.
const BACKLOG: i32 = 1024;

/// An address of the option `metrics`.
pub(super) struct MetricsAddress {
    address: String,
    /// The name by which the next edge finds the listener. It differs from the addresses of `bind`,
    /// since both may be port 0.
    name: String,
    listeners: Rc<Listeners>,
    /// The listener of the old edge of an upgrade, until it is used.
    inherited: RefCell<Vec<OwnedFd>>,
}

impl MetricsAddress {
    pub(super) fn new(address: &str, listeners: &Rc<Listeners>) -> MetricsAddress {
        let name = format!("metrics {address}");
        MetricsAddress {
            address: address.to_owned(),
            inherited: RefCell::new(listeners.take(|other| other == name)),
            listeners: Rc::clone(listeners),
            name,
        }
    }

    /// Serves the metrics until the server ends or another edge serves them. If the port cannot be
    /// opened, the server runs without it.
    pub(super) async fn serve(&self, pages: Rc<MetricsPages>) -> io::Result<()> {
        let Some(place) = self.address.strip_prefix("tcp://") else {
            let address = &self.address;
            let reason = format!("metrics {address}: only tcp://HOST:PORT serves metrics");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        };
        let (log, life) = (Rc::clone(&pages.core.log), Rc::clone(&pages.core.life));
        loop {
            let inherited = self.inherited.borrow_mut().pop();
            let listener = match inherited {
                Some(socket) => registered(socket.into())?,
                None => listen(place, &log).await,
            };
            let local = listener.local_addr().map(|it| format!("tcp://{it}"));
            let local = local.unwrap_or_else(|_| self.address.clone());
            log.info("metrics", &[("address", &local)]);
            let listener = Rc::new(listener);
            self.listeners.add(&self.name, &listener);
            let clients = Rc::new(AdminClients::default());
            let accept = async || Ok(listener.accept().await?.0);
            let pages = Rc::clone(&pages);
            tokio::select! {
                failure = clients.accept_all("metrics", &log, accept, pages) => {
                    log.warn("the metrics port is broken", &[("cause", &failure)]);
                    sleep(RETRY_PAUSE).await;
                }
                () = life.until_left() => return Ok(()),
            }
        }
    }
}

fn registered(socket: StdTcpListener) -> io::Result<TcpListener> {
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket)
}

async fn listen(address: &str, log: &Log) -> TcpListener {
    let mut has_warned = false;
    loop {
        match bind(address).await {
            Ok(listener) => return listener,
            Err(error) if !has_warned => {
                has_warned = true;
                let fields: [(&str, &dyn carat_log::FieldValue); 2] =
                    [("address", &address), ("cause", &error)];
                log.warn("cannot serve metrics yet", &fields);
            }
            Err(_) => {}
        }
        sleep(RETRY_PAUSE).await;
    }
}

/// Binds `HOST:PORT`, where the host `*` means every address of the machine.
async fn bind(address: &str) -> io::Result<TcpListener> {
    match address.strip_prefix("*:").map(str::parse) {
        Some(Ok(port)) => registered(bind_everywhere(port, BACKLOG)?),
        _ => TcpListener::bind(address).await,
    }
}

/// The pages of the metrics port.
pub(super) struct MetricsPages {
    pub(super) core: EdgeCore,
    pub(super) parts: Rc<dyn OtherParts>,
    pub(super) mailbox: Mailbox,
    pub(super) requests: Rc<RequestMetrics>,
    pub(super) history: Rc<RefCell<History>>,
    pub(super) load: Rc<RefCell<RecentLoad>>,
}

impl MetricsPages {
    async fn metrics(&self, status: Value, is_open: bool, names_puma: bool) -> Option<String> {
        let mut registry = registry(&self.core, &*self.parts, &self.requests, &status).await?;
        register_utilization(&mut registry, &self.load.borrow(), &status);
        let puma = names_puma.then(|| as_puma(&self.core.settings, &status));
        exposition(&registry, puma.as_ref(), is_open)
    }
}

impl Responder for MetricsPages {
    async fn respond(
        &self,
        request: &mut Request<Incoming>,
        _: &AdminClient,
    ) -> Response<Full<Bytes>> {
        if let Some(part) = self.parts.at(request.uri().path()) {
            return part.administer(request, AdminDoor::Port).await;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return refusal(StatusCode::METHOD_NOT_ALLOWED);
        }
        if let Some(refusal) =
            dashboard::refusal(request, &self.core.settings.parts.metrics.addresses)
        {
            return refusal;
        }
        if let Some(page) = dashboard::page(request.uri().path()) {
            return page;
        }
        let (status, text) = match request.uri().path() {
            "/metrics" => {
                let is_open = wants_open_metrics(request.headers());
                let Some(status) = ask_status(&self.mailbox).await else {
                    return refusal(StatusCode::SERVICE_UNAVAILABLE);
                };
                let kind = if is_open { OPEN_METRICS } else { TEXT_FORMAT };
                let names_puma = request.uri().query() == Some("puma");
                return match self.metrics(status, is_open, names_puma).await {
                    Some(text) => response(StatusCode::OK, kind, text),
                    None => refusal(StatusCode::INTERNAL_SERVER_ERROR),
                };
            }
            "/dashboard.json" => {
                let Some(mut overview) = ask(&self.mailbox, ControlRequest::Overview).await else {
                    return refusal(StatusCode::SERVICE_UNAVAILABLE);
                };
                let history = self.history.borrow();
                overview["recent"] = history.recent();
                overview["plots"] = history.plots();
                return dashboard::data(overview);
            }
            "/livez" => (StatusCode::OK, "alive\n".to_owned()),
            "/readyz" => readiness(ask_status(&self.mailbox).await.as_ref()),
            "/startupz" => startup(ask_status(&self.mailbox).await.as_ref()),
            _ => return refusal(StatusCode::NOT_FOUND),
        };
        response(status, "text/plain", text)
    }
}

/// Asks for the status that `carat status` shows; `None` when the server is about to exit.
async fn ask_status(mailbox: &Mailbox) -> Option<Value> {
    ask(mailbox, ControlRequest::Status { asks_ruby: false }).await
}

/// Asks the supervisor; `None` when the server is about to exit.
pub(super) async fn ask(mailbox: &Mailbox, request: ControlRequest) -> Option<Value> {
    let ask = |asker| Message::Control(request, asker);
    mailbox.ask(ask).await?.ok()
}
