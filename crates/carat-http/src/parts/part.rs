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

/// An optional capability, such as a cache. The core calls those that are switched on in the order of one list, and knows
/// none of them by name. A hook that a part does not need does nothing.
pub trait Part {
    /// The key of the part in `carat status` and `carat memory`.
    fn name(&self) -> &'static str;

    /// Whether the part has a hook of requests. Requests pass by a part that has none.
    fn sees_requests(&self) -> bool {
        true
    }

    // The hooks of a request follow in the order in which they are called.

    /// Sees each request of a client before any step does, also one that no step will see, because it is malformed. Notes
    /// in the slots of the context what later hooks need to know: the call is then gone.
    fn begin(&self, _call: &mut Call, _context: &mut RequestContext) {}

    /// Refuses or answers a request before its body is received.
    fn admit(&self, _request: &mut ArrivedRequest, _context: &mut RequestContext) -> RequestStep {
        ControlFlow::Continue(())
    }

    /// Answers a request without a body in place of the application, or passes it on itself. One that has a body goes from
    /// its reception straight to the application.
    fn answer(&self, _request: &mut ArrivedRequest, _context: &mut RequestContext) -> PartStep {
        PartStep::Next
    }

    /// Sees each reply or refusal, and may change it, or take over the connection. The last part of the list is the first.
    /// `None` when there is nothing to wait for.
    fn reply<'a>(
        &'a self,
        _reply: &'a mut Result<Reply, Refusal>,
        _context: &'a mut RequestContext,
    ) -> Option<SlowReply<'a>> {
        None
    }

    /// Sees each response with its body, cut to the ranges that the client wants, and may transform it. The last part of the
    /// list is the first. `None` when there is nothing to wait for.
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

    /// Completes the response to a request that was refused, such as by a page.
    fn refused(
        &self,
        _refusal: Refusal,
        _response: &mut Response<ReplyBody>,
        _context: &mut RequestContext,
    ) {
    }

    /// Completes the header fields of each response.
    fn fields(&self, _fields: &mut HeaderMap, _context: &mut RequestContext) {}

    /// The refusal for a client that has sent these bytes where a request begins, if the part knows what that client speaks
    /// instead of HTTP.
    fn misdirected(&self, _bytes: &[u8], _peer: &Peer) -> Option<Refusal> {
        None
    }

    // The hooks of the server.

    /// All parts are made: this one may ask the others. Called once.
    fn meet(&self, _others: &Weak<dyn OtherParts>) {}

    /// A protocol beside HTTP/1.1 that clients may speak. Asked once, when the server starts.
    fn protocol(&self) -> Option<Rc<dyn Protocol>> {
        None
    }

    /// The work beside requests, begun once clients are accepted. It ends with the server.
    fn tasks(&self) -> Vec<PartTask> {
        Vec::new()
    }

    /// Whether clients' requests come over HTTPS, since the part encrypts their connections, or sends the clients there.
    fn demands_https(&self) -> bool {
        false
    }

    /// Called ten times a second.
    fn tick(&self) {}

    /// Sees what happens beside requests.
    fn note(&self, _event: &EdgeEvent) {}

    /// Reads the part's files again: an operator asks for it by SIGHUP.
    fn reopen(&self) {}

    /// From now on, workers of this generation serve, and these settings hold.
    fn adopt(&self, _settings: &Settings, _generation: u32) {}

    /// The files that the application's code is in, as the mold that has loaded it names them: a JSON object.
    fn sources(&self, _json: &str) {}

    /// The first workers are ready.
    fn serving(&self) {}

    /// A restart is over, where one replaces all workers at once: the workers that take requests have the newest code, or
    /// why they have not.
    fn restarted(&self, _result: &Result<(), String>) {}

    /// The server is about to leave its clients. It may do so in several ways, one after the other.
    fn leave_clients(&self, _farewell: Farewell) {}

    /// A process of the application says something to the part.
    fn message(&self, _subject: &[u8], _content: &[u8]) {}

    /// The last work of a server that has stopped as it should. It delays the exit, so it has a limit.
    fn shut_down(&self) -> Option<Later<()>> {
        None
    }

    /// The memory that the part leaves to clients when they need it.
    fn memory(&self) -> Option<&dyn Lends> {
        None
    }

    // The hooks for those who run the server.

    /// The state of the part for `carat status`; null when there is nothing to say.
    fn report(&self) -> Value {
        Value::Null
    }

    /// The numbers of the part for monitoring systems.
    fn samples(&self) -> Vec<PartSample> {
        Vec::new()
    }

    /// The paths at which the part answers those who run the server. The paths of the core come first.
    fn admin_paths(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers a request for one of these paths.
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
    /// The request is answered, or under way to its answer.
    Answer(RequestAnswer),
    /// The part waits, such as for a disk. If the wait brings no reply, the next step follows.
    Wait(ReplySearch),
}

impl PartStep {
    /// The request is answered by the edge.
    pub fn found(reply: Reply) -> PartStep {
        PartStep::Answer(RequestAnswer::Found(Box::new(reply)))
    }
}

/// The wait of a part for what it makes of a reply.
pub type SlowReply<'a> = Pin<Box<dyn Future<Output = ReplyStep> + 'a>>;

/// The wait of a part for what it makes of a body. An error takes the place of the response.
pub type SlowBody<'a> = Pin<Box<dyn Future<Output = Result<(), Refusal>> + 'a>>;

/// The parts that are switched on, as one of them sees them.
pub trait OtherParts {
    /// The numbers of all parts for monitoring systems.
    fn samples(&self) -> Vec<PartSample>;

    /// The part that answers those who run the server at this path.
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
    /// Another server accepts new clients. Connected ones are served until each has been told to reconnect.
    HandsOver,
    /// New clients are not accepted, and all connections end within this time.
    Drains(Duration),
}

/// Where those who run the server ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminDoor {
    /// The control socket, which only the user of the server and root can open.
    ControlSocket,
    /// A port, which others may reach, too: a secret shows who asks.
    Port,
}

/// The wait for the response to a request of those who run the server.
pub type AdminResponse<'a> = Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + 'a>>;

/// Work of a part beside requests.
pub struct PartTask {
    /// What the log calls the task.
    pub name: &'static str,
    /// The work. When it fails or panics, the server stops: what it can do without ends with `Ok`.
    pub work: Later<io::Result<()>>,
}
