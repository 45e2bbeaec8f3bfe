use std::convert::Infallible;
use std::rc::Rc;

use http::{Request, Response};
use hyper::body::Incoming;

use super::access::AccessEntry;
use super::peer::Peer;
use super::refusal::Refusal;
use super::watch::Watch;
use crate::body::{ReplyBody, receive};
use crate::dispatch::{Answer, Call};
use crate::server::Server;

/// Serves one request: the order of these steps is the behaviour of the server.
pub(crate) async fn serve(
    request: Request<Incoming>,
    peer: Rc<Peer>,
    watch: Rc<Watch>,
    server: Rc<Server>,
) -> Result<Response<ReplyBody>, Infallible> {
    let mut entry = server.access_log.start(&request, &peer);
    let answer = match receive(request, peer, &watch, &server).await {
        Ok(call) => answer(call, &server).await,
        Err(refusal) => Err(refuse(refusal, &watch)),
    };
    let response = match answer {
        Ok(answer) => {
            entry.timed(answer.queue_time, answer.app_time);
            answer.response
        }
        Err(refusal) => refusal.into_response(),
    };
    entry.answered(response.status());
    Ok(response.map(|body| body.finishing(Finish { entry, watch })))
}

async fn answer(call: Call, server: &Rc<Server>) -> Result<Answer, Refusal> {
    server.dispatcher.call(call).await
}

/// A request that was not received to its end: what is still to come is drained when the
/// connection closes.
fn refuse(refusal: Refusal, watch: &Watch) -> Refusal {
    watch.linger();
    watch
        .refusal()
        .inspect(|_| watch.refusal_answered())
        .unwrap_or(refusal)
}

/// What happens when the answer is out, or the client is gone.
#[derive(Debug)]
pub(crate) struct Finish {
    entry: AccessEntry,
    watch: Rc<Watch>,
}

impl Finish {
    /// Counts bytes of the answer's body.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.entry.count(bytes);
    }
}

impl Drop for Finish {
    fn drop(&mut self) {
        self.watch.end_message();
    }
}
