use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use bytes::Bytes;
use tokio::task::spawn_local;

use crate::simulation::plan::{Answer, RequestScript, ScriptedBody, ScriptedResponse};
use crate::simulation::processes::{ProcessTable, SimulatedProcess, pattern, upload};
use carat_exchange::{
    Call, CallBody, InlineBytes, Refusal, Reply, ReplyContent, ReplyStream, body_stream,
};
use carat_http::Server;

/// A client with one connection, which sends requests one after the other.
pub(super) struct SimulatedClient {
    pub(super) world: Rc<ProcessTable>,
    pub(super) server: Rc<Server>,
}

impl SimulatedClient {
    /// Sends all requests, unless the server stops.
    pub(super) async fn run(self) {
        let _connection = self.server.connect().await;
        for _ in 0..self.world.scenario.requests {
            // A request that has begun to arrive is served after the stop as well.
            if self.world.is_stopping.get() {
                return;
            }
            let think = self.world.random.below(self.world.scenario.think + 1);
            self.world.pause(think).await;
            self.request().await;
        }
    }

    async fn request(&self) {
        let world = &self.world;
        let is_harmful = !world.is_calm.get();
        let script = RequestScript::random(&world.random, is_harmful);
        let leaves_after = script.leaves_after;
        let number = world.ledger.borrow_mut().send(script, world.now());
        world.note("send", number as u64, 0);
        let (call, upload) = self.call(number);
        let room = self.server.dispatcher().inspect().room();
        let pending = match self.server.dispatcher().dispatch(call) {
            Ok(pending) => pending,
            Err(refusal) => {
                if room && refusal == Refusal::QueueFull {
                    world.violate(format!(
                        "request {number} was refused although there was room"
                    ));
                }
                return world.answer(number, Answer::Refused(refusal));
            }
        };
        let mut pending = pin!(pending);
        let leaves = async {
            match leaves_after {
                Some(delay) => world.pause(delay).await,
                None => std::future::pending().await,
            }
        };
        let broken = async {
            let is_complete = match upload {
                Some(upload) => upload.await.unwrap_or(true),
                None => true,
            };
            if is_complete {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            reply = &mut pending => match reply {
                Ok(reply) => self.reply(number, reply).await,
                Err(refusal) => world.answer(number, Answer::Refused(refusal)),
            },
            () = leaves => self.leave(number),
            () = broken => self.leave(number),
        }
    }

    /// The client closes its connection. A request that is on no lane must never begin.
    fn leave(&self, number: usize) {
        let is_queued = self.server.dispatcher().inspect().queued.contains(&number);
        if is_queued {
            self.world.ledger.borrow_mut().leave_queue(number);
        }
        self.world.answer(number, Answer::Left);
    }

    /// The call, and the result of its upload: whether it was complete.
    fn call(&self, number: usize) -> (Call, Option<tokio::sync::oneshot::Receiver<bool>>) {
        let (method, body) = {
            let ledger = self.world.ledger.borrow();
            let script = ledger.script(number);
            (script.method, script.body)
        };
        let mut call = Call::plain(method, &format!("/{number}"));
        match body {
            ScriptedBody::None => (call, None),
            ScriptedBody::Inline(length) => {
                call.body = CallBody::Inline(InlineBytes::plain(&pattern(number, length)));
                (call, None)
            }
            ScriptedBody::Stream { length, sent } => {
                let (sender, stream) = body_stream(Some(length as u64));
                call.body = CallBody::Stream(Rc::new(stream));
                let (finished, outcome) = tokio::sync::oneshot::channel();
                let world = Rc::clone(&self.world);
                let task = spawn_local(async move {
                    let is_complete = upload(&world, sender, pattern(number, sent), length).await;
                    // The client may have its answer already.
                    let _ = finished.send(is_complete);
                });
                self.world.add_client(task.abort_handle());
                (call, Some(outcome))
            }
        }
    }

    async fn reply(&self, number: usize, reply: Reply) {
        self.world.answer(number, Answer::Reply);
        let name = reply.response.headers().get("x-request");
        let is_own = name.is_some_and(|name| name.as_bytes() == number.to_string().as_bytes());
        let script = self.world.ledger.borrow().script(number).clone();
        let expected = match script.response {
            _ if script.method == "HEAD" => 0,
            ScriptedResponse::Inline(length) | ScriptedResponse::Stream { length, .. } => length,
            ScriptedResponse::Empty | ScriptedResponse::Invalid => 0,
        };
        let is_whole = match reply.response.into_body().content {
            ReplyContent::Full(bytes) => bytes == pattern(number, expected),
            ReplyContent::Stream(stream) => self.receive(number, stream, expected).await,
            ReplyContent::Stored(_) | ReplyContent::File(_) | ReplyContent::Tunnel(_) => false,
        };
        let mut ledger = self.world.ledger.borrow_mut();
        ledger.check(is_own && is_whole, number, "has another response");
    }

    /// Reads a streamed response. False when its end is wrong.
    async fn receive(&self, number: usize, mut stream: ReplyStream, expected: usize) -> bool {
        let mut received = 0;
        loop {
            let piece = poll_fn(|cx| stream.poll_piece(cx)).await;
            match piece {
                None => return received == expected && !self.breaks_off(number),
                Some(Err(_)) => return self.breaks_off(number) || self.has_lost_worker(number),
                Some(Ok(piece)) => {
                    if !self.take(number, &piece) {
                        return false;
                    }
                    received += piece.len();
                }
            }
            if self.world.random.chance(30) {
                return true;
            }
            if self.world.random.chance(100) {
                self.world.pause(self.world.random.below(50_000)).await;
            }
        }
    }

    fn take(&self, number: usize, piece: &Bytes) -> bool {
        let mut ledger = self.world.ledger.borrow_mut();
        ledger.take(number, piece.len());
        piece == &pattern(number, piece.len())
    }

    fn breaks_off(&self, number: usize) -> bool {
        let ledger = self.world.ledger.borrow();
        let response = ledger.script(number).response;
        matches!(
            response,
            ScriptedResponse::Stream {
                breaks_off: true,
                ..
            }
        )
    }

    /// Whether the worker of a stream died or lost its lane, or the server cut the stream off.
    fn has_lost_worker(&self, number: usize) -> bool {
        let pid = self.world.ledger.borrow().last_run(number);
        let processes = self.world.processes.borrow();
        let is_serving =
            pid.is_some_and(|pid| processes.get(&pid).is_some_and(SimulatedProcess::is_ready));
        !is_serving || self.world.is_stopping.get()
    }
}
