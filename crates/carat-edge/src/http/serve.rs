use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::rc::Rc;

use http::{Request, Response};
use hyper::body::{Body, Incoming};

use super::access::AccessEntry;
use super::peer::Peer;
use super::refusal::Refusal;
use super::watch::Watch;
use crate::body::{Encode, Progress, ReplyBody, receive, receive_nothing};
use crate::dispatch::{Answer, Asking, Call};
use crate::server::Server;

/// Serves one request: the order of these steps is the behaviour of the server.
///
/// A request without a body is with a worker before this returns: what is left to await is small,
/// and hyper moves it about.
pub(crate) fn serve(
    request: Request<Incoming>,
    peer: &Rc<Peer>,
    watch: &Rc<Watch>,
    server: &Rc<Server>,
) -> impl Future<Output = Result<Response<ReplyBody>, Infallible>> + use<> {
    let entry = server.access_log.start(&request, peer);
    let encode = Encode::negotiate(&request, server);
    let (parts, body) = request.into_parts();
    let mut call = Call::new(parts, Rc::clone(peer));
    let asked = if body.is_end_stream() {
        receive_nothing(&mut call, server);
        Asked::Already(server.dispatcher.ask(call))
    } else {
        let (watch, server) = (Rc::clone(watch), Rc::clone(server));
        Asked::AfterBody(Box::pin(receive_and_ask(call, body, watch, server)))
    };
    let watch = Rc::clone(watch);
    async move {
        let answer = match asked.answer().await {
            Ok(answer) => encoded(answer, encode).await,
            refused => refused,
        };
        Ok(respond(answer, entry, watch))
    }
}

/// How far a request has come when it is served.
enum Asked {
    Already(Result<Asking, Refusal>),
    AfterBody(Pin<Box<dyn Future<Output = Result<Answer, Refusal>>>>),
}

impl Asked {
    async fn answer(self) -> Result<Answer, Refusal> {
        match self {
            Asked::Already(asking) => asking?.await,
            Asked::AfterBody(answer) => answer.await,
        }
    }
}

#[expect(clippy::manual_async_fn, reason = "that holds each argument twice")]
fn receive_and_ask(
    mut call: Call,
    body: Incoming,
    watch: Rc<Watch>,
    server: Rc<Server>,
) -> impl Future<Output = Result<Answer, Refusal>> {
    async move {
        let received = receive(&mut call, body, &watch, &server).await;
        let progress = received.map_err(|refusal| refuse(refusal, &watch))?;
        let asking = server.dispatcher.ask(call)?;
        match progress {
            None => asking.await,
            Some(progress) => unless_broken(asking, progress, &watch).await,
        }
    }
}

/// The answer to a request whose body is still arriving, or why the rest of that does not come.
async fn unless_broken(
    asking: Asking,
    mut progress: Progress,
    watch: &Watch,
) -> Result<Answer, Refusal> {
    let mut asking = pin!(asking);
    tokio::select! {
        biased;
        answer = &mut asking => {
            progress.settled().await;
            answer
        }
        over = progress.over() => match over {
            Ok(()) => asking.await,
            Err(refusal) => Err(refuse(refusal, watch)),
        },
    }
}

/// Boxed: most answers are sent as they are, and need not carry the room for this about.
async fn encoded(mut answer: Answer, encode: Option<Encode>) -> Result<Answer, Refusal> {
    if let Some(encode) = encode {
        answer.response = Box::pin(encode.apply(answer.response)).await?;
    }
    Ok(answer)
}

fn respond(
    answer: Result<Answer, Refusal>,
    mut entry: AccessEntry,
    watch: Rc<Watch>,
) -> Response<ReplyBody> {
    let mut response = match answer {
        Ok(answer) => {
            entry.timed(answer.queue_time, answer.app_time);
            answer.response
        }
        Err(refusal) => refusal.into_response(),
    };
    entry.answered(response.status());
    watch.begin_answer();
    response.body_mut().finish_with(Finish { entry, watch });
    response
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
