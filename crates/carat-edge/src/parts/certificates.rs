//! The certificates of the listeners as a part of the edge: they are read again when they change, and those of `acme=` in
//! `bind` are asked for in time.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response};
use serde_json::{Value, json};
use tokio::sync::Notify;

use carat_exchange::ReplyBody;
use carat_http::{
    ArrivedRequest, EdgeCore, Listener, Part, PartTask, RequestAnswer, RequestContext, RequestStep,
};
use carat_log::Log;
use carat_settings::Settings;
use carat_tls::{
    AcmeClient, CertificateStatus, CertificateStore, issue_certificates, watch_certificates,
};

/// Where an authority asks for a token (RFC 8555, section 8.3).
const CHALLENGE_PATH: &str = "/.well-known/acme-challenge/";

/// The certificates of all listeners, and the program that asks an authority for them.
struct CertificatesPart {
    stores: Vec<Arc<CertificateStore>>,
    client: Rc<AcmeClient>,
    /// Notified when the files are to be looked at.
    renewal: Rc<Notify>,
    log: Rc<Log>,
}

/// `None` when no listener speaks TLS.
pub(super) fn part(core: &EdgeCore, listeners: &[Rc<Listener>]) -> Option<Box<dyn Part>> {
    let stores = listeners.iter().filter_map(|it| it.certificates());
    let stores: Vec<_> = stores.collect();
    if stores.is_empty() {
        return None;
    }
    let settings = &core.settings;
    let (command, directory) = (
        settings.parts.tls.acme_command.clone(),
        settings.directory.clone(),
    );
    Some(Box::new(CertificatesPart {
        stores,
        client: Rc::new(AcmeClient::new(command, directory)),
        renewal: Rc::default(),
        log: Rc::clone(&core.log),
    }))
}

impl Part for CertificatesPart {
    fn name(&self) -> &'static str {
        "certificates"
    }

    /// Answers an authority that validates a name, on every listener. Requests for other tokens may be the application's.
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

    fn tasks(&self) -> Vec<PartTask> {
        let (stores, log) = (self.stores.clone(), Rc::clone(&self.log));
        let watch = watch_certificates(stores, Rc::clone(&self.renewal), log);
        let (stores, client) = (self.stores.clone(), Rc::clone(&self.client));
        let issue = issue_certificates(stores, client, Rc::clone(&self.log));
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

    fn reopen(&self) {
        self.renewal.notify_waiters();
    }

    fn adopt(&self, settings: &Settings, _: u32) {
        self.client.adopt(&settings.parts.tls.acme_command);
    }

    /// The states of the certificates that an authority issues.
    fn report(&self) -> Value {
        let stores = self.stores.iter();
        let statuses: Vec<CertificateStatus> = stores.flat_map(|it| it.statuses()).collect();
        json!(statuses)
    }
}

impl CertificatesPart {
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
