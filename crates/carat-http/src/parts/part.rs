use std::future::ready;
use std::io;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::time::Duration;

use bytes::Bytes;
use carat_body::request::RequestTransform;
use carat_body::response::ClientBody;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::Value;

use super::admin_reply::admin_refusal;
use super::edge_event::EdgeEvent;
use super::lends::Lends;
use super::part_sample::PartSample;
use super::protocol::Protocol;
use crate::request::{
    ArrivedRequest, Later, ReplySearch, RequestAnswer, RequestContext, RequestObserver, RequestStep,
};
use carat_exchange::{Call, Peer, Refusal, Reply, ReplyBody};
use carat_settings::Settings;

/// An optional capability, such as a cache. The core calls all parts that are switched on in the order of one list, and
/// knows none of them by name. By default a hook does nothing.
pub trait Part {
    /// The key of the part in `carat status` and `carat memory`.
    fn name(&self) -> &'static str;

    /// Whether the part uses any hook of requests. Otherwise requests skip it.
    fn sees_requests(&self) -> bool {
        true
    }

    // The hooks of a request follow in the order in which they are called.

    /// Sees each request of a client before all steps, even a malformed one, which no step sees. Notes in the slots of
    /// the context what later hooks need to know, because the call is gone by then.
    fn begin(&self, _call: &mut Call, _context: &mut RequestContext) {}

    /// Refuses or answers a request before its body is received.
    fn admit(&self, _request: &mut ArrivedRequest, _context: &mut RequestContext) -> RequestStep {
        ControlFlow::Continue(())
    }

    /// Answers a request without a body in place of the application, or dispatches it itself. A request with a body
    /// skips this hook: it goes to the application when its body is received.
    fn answer(&self, _request: &mut ArrivedRequest, _context: &mut RequestContext) -> PartStep {
        PartStep::Next
    }

    /// Sees each reply or refusal, and may change it, or take over the connection. The last part of the list is called
    /// first. `None` if there is nothing to wait for.
    fn reply<'a>(
        &'a self,
        _reply: &'a mut Result<Reply, Refusal>,
        _context: &'a mut RequestContext,
    ) -> Option<SlowReply<'a>> {
        None
    }

    /// Sees each response with its body, which is already cut to the ranges that the client asked for, and may
    /// transform it. The last part of the list is called first. `None` if there is nothing to wait for.
    fn body<'a>(
        &'a self,
        _response: &'a mut Response<ClientBody>,
        _context: &'a mut RequestContext,
    ) -> Option<SlowBody<'a>> {
        None
    }

    /// Transforms the bodies of requests.
    fn transform(&self) -> Option<Rc<dyn RequestTransform>> {
        None
    }

    /// Sees each request at its beginning and its end, to count or trace it.
    fn observer(&self) -> Option<Rc<dyn RequestObserver>> {
        None
    }

    /// Completes the response to a refused request, such as by an error page.
    fn refused(
        &self,
        _refusal: Refusal,
        _response: &mut Response<ReplyBody>,
        _context: &mut RequestContext,
    ) {
    }

    /// Completes the header fields of each response.
    fn fields(&self, _fields: &mut HeaderMap, _context: &mut RequestContext) {}

    /// The refusal for a client that has sent these bytes in place of a request, if the part recognizes the protocol
    /// that they belong to.
    fn misdirected(&self, _bytes: &[u8], _peer: &Peer) -> Option<Refusal> {
        None
    }

    // The hooks of the server.

    /// Gives this part access to the others, once all parts exist. Called once.
    fn meet(&self, _others: &Weak<dyn OtherParts>) {}

    /// A protocol other than HTTP/1.1 that clients may speak. Asked once, when the server starts.
    fn protocol(&self) -> Option<Rc<dyn Protocol>> {
        None
    }

    /// The background work of the part. It begins when clients are accepted, and ends with the server.
    fn tasks(&self) -> Vec<PartTask> {
        Vec::new()
    }

    /// Whether all requests of clients come over HTTPS: the part encrypts their connections, or redirects them to
    /// HTTPS.
    fn demands_https(&self) -> bool {
        false
    }

    /// Called ten times a second.
    fn tick(&self) {}

    /// Sees the events of the edge that concern no single request.
    fn note(&self, _event: &EdgeEvent) {}

    /// Opens or reads the part's files again, as an operator asks by SIGHUP.
    fn reopen(&self) {}

    /// Adopts the settings of this generation, whose workers serve from now on.
    fn adopt(&self, _settings: &Settings, _generation: u32) {}

    /// Gets the files of the application's code, as the mold names them after it has loaded the application: a JSON
    /// object.
    fn sources(&self, _json: &str) {}

    /// Called when the first worker is ready.
    fn serving(&self) {}

    /// Called when a restart is over, if restarts replace all workers at once. The workers that take requests have the
    /// newest code, or the error says why they do not.
    fn restarted(&self, _result: &Result<(), String>) {}

    /// Called when the server is about to leave its clients. There may be several farewells, one after the other.
    fn leave_clients(&self, _farewell: Farewell) {}

    /// Gets a message that a process of the application has sent to the part.
    fn message(&self, _subject: &[u8], _content: &[u8]) {}

    /// The last work of the part in a regular stop. The exit waits for it, up to a limit.
    fn shut_down(&self) -> Option<Later<()>> {
        None
    }

    /// The memory that the part leaves to clients when they need it.
    fn memory(&self) -> Option<&dyn Lends> {
        None
    }

    // The hooks for operators.

    /// The state of the part for `carat status`; null when there is nothing to say.
    fn report(&self) -> Value {
        Value::Null
    }

    /// The numbers of the part for monitoring systems.
    fn samples(&self) -> Vec<PartSample> {
        Vec::new()
    }

    /// The paths at which the part answers operators. The paths of the core take precedence.
    fn admin_paths(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers a request of an operator for one of these paths.
    fn administer<'a>(
        &'a self,
        _request: &'a mut Request<Incoming>,
        _door: AdminDoor,
    ) -> AdminResponse<'a> {
        Box::pin(ready(admin_refusal(StatusCode::NOT_FOUND)))
    }
}

/// What a part makes of a request.
pub enum PartStep {
    /// The next step follows.
    Next,
    /// The request is answered, or was dispatched.
    Answer(RequestAnswer),
    /// The part waits, such as for a disk. If no reply comes of that, the next step follows.
    Wait(ReplySearch),
}

impl PartStep {
    /// The request is answered by the edge.
    pub fn found(reply: Reply) -> PartStep {
        PartStep::Answer(RequestAnswer::Found(Box::new(reply)))
    }
}

/// The future of a part that needs time to process a reply.
pub type SlowReply<'a> = Pin<Box<dyn Future<Output = ReplyStep> + 'a>>;

/// The future of a part that needs time to process a body. An error takes the place of the response.
pub type SlowBody<'a> = Pin<Box<dyn Future<Output = Result<(), Refusal>> + 'a>>;

/// The parts that are switched on, as one of them sees them.
pub trait OtherParts {
    /// The numbers of all parts for monitoring systems.
    fn samples(&self) -> Vec<PartSample>;

    /// The part that answers operators at this path.
    fn at(&self, path: &str) -> Option<&dyn Part>;
}

/// What a part has made of a reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReplyStep {
    /// The next step follows.
    Next,
    /// The part has taken over the connection: there is no response.
    TakenOver,
}

/// How a server leaves its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Farewell {
    /// Requests are served as before, and clients are asked to send their next one elsewhere.
    TurnsAway,
    /// Another edge accepts new clients. Connected clients are served until each has been told to reconnect.
    HandsOver,
    /// New clients are not accepted, and all connections end within this time.
    Drains(Duration),
}

/// The place where an operator's request arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminDoor {
    /// The control socket, which only the user of the server and root can open.
    ControlSocket,
    /// A TCP port, which others may reach, too: the request has to contain a secret.
    Port,
}

/// The future of the response to an operator's request.
pub type AdminResponse<'a> = Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + 'a>>;

/// Background work of a part.
pub struct PartTask {
    /// What the log calls the task.
    pub name: &'static str,
    /// The work. If it fails or panics, the server stops. A task whose failure does not matter that much returns `Ok`.
    pub work: Later<io::Result<()>>,
}
