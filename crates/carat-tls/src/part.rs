use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::acme::{AcmeClient, CertificateStatus};
use super::certificate_store::CertificateStore;
use super::renewal::{issue_certificates, watch_certificates};
use super::transport::TlsTransport;
use carat_exchange::{Fault, PartRefusal, Peer, Refusal, ReplyBody};
use carat_http::{
    ArrivedRequest, EdgeCore, Failures, Part, PartTask, RequestAnswer, RequestContext, RequestStep,
};
use carat_log::Log;
use carat_settings::Settings;

/// The path below which an authority asks for a token (RFC 8555, section 8.3).
const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";

/// The first bytes of a client that speaks TLS: a record of the handshake, of any version.
const HELLO: [u8; 2] = [0x16, 0x03];

/// The refusal of a client that speaks TLS to a port without TLS.
const UNEXPECTED_TLS: Refusal = Refusal::ByPart(&PartRefusal {
    status: StatusCode::BAD_REQUEST,
    reason: "this port speaks plain HTTP, and the client speaks TLS",
    fault: Fault::Client,
    retry_after: None,
});

/// The certificates of all listeners, which are read again when they change, and the program that
/// asks an authority for the certificates of `acme=` in `bind`.
struct TlsPart {
    transport: Rc<TlsTransport>,
    stores: Vec<Arc<CertificateStore>>,
    client: Rc<AcmeClient>,
    /// Notified when the files are to be looked at.
    renewal: Rc<Notify>,
    /// Clients that have spoken TLS to a port without TLS.
    misdirected: RefCell<Failures>,
    log: Rc<Log>,
}

/// The part of a server that listens through `transport`. It is there also without a listener for
/// TLS, since it recognizes clients that speak TLS to another port.
pub fn part(core: &EdgeCore, transport: &Rc<TlsTransport>) -> Option<Box<dyn Part>> {
    let settings = &core.settings;
    let client = AcmeClient::new(&settings.parts.tls, settings.directory.clone());
    transport.demands.begin(core);
    Some(Box::new(TlsPart {
        stores: transport.stores(),
        transport: Rc::clone(transport),
        client: Rc::new(client),
        renewal: Rc::default(),
        misdirected: RefCell::default(),
        log: Rc::clone(&core.log),
    }))
}

impl Part for TlsPart {
    fn name(&self) -> &'static str {
        "certificates"
    }

    fn sees_requests(&self) -> bool {
        self.stores.iter().any(|it| it.is_issued())
    }

    /// Answers an authority that validates a name, on every listener. Requests for other tokens
    /// continue to the application.
    fn admit(&self, request: &mut ArrivedRequest, context: &mut RequestContext) -> RequestStep {
        let Some(token) = self.validation_response(request) else {
            return ControlFlow::Continue(());
        };
        let mut response = Response::new(ReplyBody::full(token.into()));
        let kind = HeaderValue::from_static("application/octet-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        let reply = context.dispatch.own_reply(response);
        ControlFlow::Break(RequestAnswer::Found(Box::new(reply)))
    }

    fn misdirected(&self, bytes: &[u8], peer: &Peer) -> Option<Refusal> {
        if !bytes.starts_with(&HELLO) {
            return None;
        }
        let reason = UNEXPECTED_TLS.reason().to_owned();
        self.misdirected.borrow_mut().note(peer, reason);
        Some(UNEXPECTED_TLS)
    }

    fn tasks(&self) -> Vec<PartTask> {
        if self.stores.is_empty() {
            return Vec::new();
        }
        let (stores, log) = (self.stores.clone(), Rc::clone(&self.log));
        let watch = watch_certificates(stores, Rc::clone(&self.renewal), log);
        let (stores, client) = (self.stores.clone(), Rc::clone(&self.client));
        let (demands, log) = (Rc::clone(&self.transport.demands), Rc::clone(&self.log));
        let issue = issue_certificates(stores, client, demands, log);
        vec![
            PartTask {
                name: "certificates",
                work: Box::pin(watch),
            },
            PartTask {
                name: "authority",
                work: Box::pin(issue),
            },
        ]
    }

    fn demands_https(&self) -> bool {
        !self.stores.is_empty()
    }

    fn tick(&self) {
        self.transport.handshakes.report(&self.log);
        let misdirected = self.misdirected.take();
        misdirected.report("TLS on a port without it", &self.log);
    }

    fn reopen(&self) {
        self.renewal.notify_waiters();
    }

    fn adopt(&self, settings: &Settings, _: u32) {
        let settings = &settings.parts.tls;
        self.client.adopt(settings);
        self.transport.demands.adopt(settings.acme_ask.clone());
    }

    /// The states of the certificates that an authority issues.
    fn report(&self) -> Value {
        if self.stores.is_empty() {
            return Value::Null;
        }
        let stores = self.stores.iter();
        let statuses: Vec<CertificateStatus> = stores.flat_map(|it| it.statuses()).collect();
        json!(statuses)
    }
}

impl TlsPart {
    fn validation_response(&self, request: &mut ArrivedRequest) -> Option<String> {
        let parts = &request.call().parts;
        let token = parts.uri.path().strip_prefix(CHALLENGE_PATH)?;
        if parts.method != Method::GET && parts.method != Method::HEAD {
            return None;
        }
        let mut stores = self.stores.iter();
        stores.find_map(|store| store.validation_response(token))
    }
}
