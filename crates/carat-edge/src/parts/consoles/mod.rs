//! Consoles as a part of the edge: clients of the control socket that want a process of their own, forked from the mold
//! (`carat console`, `carat run`).

mod attendance;
mod console_socket;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, UPGRADE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;

use self::attendance::attend;
use crate::admin::{outcome, refusal, response};
use crate::supervise::Mailbox;
use carat_http::{AdminDoor, AdminResponse, EdgeCore, Part};

/// The most consoles that are open, or about to be, at once.
const CONSOLES_LIMIT: usize = 8;

/// The part that opens consoles.
struct Consoles {
    is_allowed: bool,
    permits: Arc<Semaphore>,
    mailbox: Mailbox,
}

/// The part. Without the option `console`, it tells clients why there are no consoles.
pub(super) fn part(core: &EdgeCore, mailbox: &Mailbox) -> Box<dyn Part> {
    Box::new(Consoles {
        is_allowed: core.settings.parts.consoles.enabled,
        permits: Arc::new(Semaphore::new(CONSOLES_LIMIT)),
        mailbox: mailbox.clone(),
    })
}

impl Part for Consoles {
    fn name(&self) -> &'static str {
        "consoles"
    }

    fn sees_requests(&self) -> bool {
        false
    }

    fn admin_paths(&self) -> &'static [&'static str] {
        &["/console"]
    }

    fn administer<'a>(
        &'a self,
        request: &'a mut Request<Incoming>,
        door: AdminDoor,
    ) -> AdminResponse<'a> {
        Box::pin(async move {
            match door {
                AdminDoor::ControlSocket => self.respond(request),
                AdminDoor::Port => refusal(StatusCode::NOT_FOUND),
            }
        })
    }
}

impl Consoles {
    fn respond(&self, request: &mut Request<Incoming>) -> Response<Full<Bytes>> {
        if *request.method() != Method::POST {
            let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED);
            let allowed = HeaderValue::from_static("POST");
            response.headers_mut().insert(ALLOW, allowed);
            return response;
        }
        match self.open(request) {
            Ok(()) => switching(),
            Err(reason) => {
                let (status, json) = outcome(Some(Err(reason)));
                response(status, "application/json", json)
            }
        }
    }

    /// Takes over the connection of a request once its response has been sent. The error says why
    /// it does not.
    fn open(&self, request: &mut Request<Incoming>) -> Result<(), String> {
        if !self.is_allowed {
            return Err("the server allows no consoles (option `console`)".to_owned());
        }
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let permit =
            permit.map_err(|_| format!("{CONSOLES_LIMIT} consoles are open, the limit"))?;
        let upgrade = hyper::upgrade::on(request);
        let mailbox = self.mailbox.clone();
        spawn_local(async move {
            attend(upgrade, mailbox).await;
            drop(permit);
        });
        Ok(())
    }
}

/// The response after which the connection speaks the protocol of consoles.
fn switching() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("carat-console"));
    response
}
