use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response};

use crate::request::{ArrivedRequest, RequestAnswer, RequestContext, RequestStep};
use carat_exchange::ReplyBody;
use carat_settings::Settings;
use carat_tls::{AcmeClient, CertificateStatus, CertificateStore};

/// Where an authority asks (RFC 8555, section 8.3).
const PLACE: &str = "/.well-known/acme-challenge/";

/// Answers authorities that validate a name over HTTP, on every listener.
pub struct Validations {
    pub stores: Vec<Arc<CertificateStore>>,
    pub client: Rc<AcmeClient>,
}

impl Validations {
    pub(crate) fn new(settings: &Settings, stores: Vec<Arc<CertificateStore>>) -> Validations {
        let (command, directory) = (
            settings.parts.tls.acme_command.clone(),
            settings.directory.clone(),
        );
        Validations {
            stores,
            client: Rc::new(AcmeClient::new(command, directory)),
        }
    }

    /// Answers a request for a token that is pending. Others may be the application's.
    pub(crate) fn check(
        &self,
        request: &mut ArrivedRequest,
        context: &RequestContext,
    ) -> RequestStep {
        let Some(response) = self.response(request) else {
            return ControlFlow::Continue(());
        };
        let mut response = Response::new(ReplyBody::full(response.into()));
        let kind = HeaderValue::from_static("application/octet-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        let reply = context.dispatch.own_reply(response);
        ControlFlow::Break(RequestAnswer::Found(Box::new(reply)))
    }

    fn response(&self, request: &mut ArrivedRequest) -> Option<String> {
        let parts = &request.call().parts;
        let token = parts.uri.path().strip_prefix(PLACE)?;
        if parts.method != Method::GET && parts.method != Method::HEAD {
            return None;
        }
        let mut stores = self.stores.iter();
        stores.find_map(|store| store.validation_response(token))
    }

    /// The states of the certificates that an authority issues.
    pub fn statuses(&self) -> Vec<CertificateStatus> {
        let stores = self.stores.iter();
        stores.flat_map(|store| store.statuses()).collect()
    }
}
