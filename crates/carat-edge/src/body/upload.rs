use std::rc::Rc;

use carat_coding::Decoder;
use tokio::sync::oneshot;
use tokio::task::spawn_local;

use super::arriving::Arriving;
use super::receive::pass;
use super::sink::Sink;
use crate::dispatch::{Feed, Intake, Readers, feed};
use crate::http::{Refusal, Watch};

/// What becomes of a body that is handed over while it arrives.
pub(crate) struct Progress {
    over: oneshot::Receiver<Result<(), Refusal>>,
    readers: Readers,
}

impl Progress {
    /// Waits until it has been handed over, or is known not to be; an error says why it has broken off.
    pub(crate) async fn over(&mut self) -> Result<(), Refusal> {
        (&mut self.over).await.unwrap_or(Ok(()))
    }

    /// Waits, where the answer has come before the end, until the rest has been given up or is certain to be taken: the
    /// answer's head says whether the connection is kept.
    pub(crate) async fn settled(&mut self) {
        if self.readers.have_left() {
            // Whoever has been answered needs no reason.
            let _ = self.over().await;
        }
    }
}

/// A body that is handed over while it arrives, beside the request and its answer.
pub(super) struct Upload {
    pub(super) arriving: Arriving,
    pub(super) decoder: Option<Box<Decoder>>,
    /// Whether the client sends nothing before it is told to go on.
    pub(super) awaits_leave: bool,
}

impl Upload {
    /// Begins. Nothing is asked of the client before the application reads.
    pub(super) fn start(self) -> (Intake, Progress) {
        let announced = self.arriving.announced();
        let (feed, intake) = feed(announced.filter(|_| self.decoder.is_none()));
        let (outcome, over) = oneshot::channel();
        let readers = feed.readers();
        self.arriving.watch().pause_body(true);
        spawn_local(self.run(feed, outcome));
        (intake, Progress { over, readers })
    }

    async fn run(self, feed: Feed, outcome: oneshot::Sender<Result<(), Refusal>>) {
        let Upload {
            mut arriving,
            decoder,
            mut awaits_leave,
        } = self;
        let unread = feed.unread();
        let handover = Handover {
            feed,
            watch: arriving.watch(),
        };
        let handed_over = async {
            handover.room().await;
            awaits_leave = false;
            pass(decoder, &mut arriving, &mut Sink::Handover(&handover)).await?;
            handover.feed.end();
            Ok(())
        };
        let done = tokio::select! {
            biased;
            () = unread => None,
            done = handed_over => Some(done),
        };
        if let Some(done) = done {
            // Nobody may wait for it any more.
            let _ = outcome.send(done);
        } else if awaits_leave || !arriving.is_nearly_here() {
            arriving.abandon();
        } else {
            let _ = outcome.send(Ok(()));
            arriving.discard().await;
        }
    }
}

/// Passes pieces on as fast as the application reads.
pub(super) struct Handover {
    feed: Feed,
    watch: Rc<Watch>,
}

impl Handover {
    /// Passes a piece on; it is dropped when nobody reads any more.
    pub(super) async fn take(&self, mut data: &[u8]) {
        while !data.is_empty() {
            let Some(room) = self.room().await else {
                return;
            };
            let (piece, rest) = data.split_at(room.min(data.len()));
            self.feed.send(piece);
            data = rest;
        }
    }

    /// Waits until the application takes something; the client is not to blame meanwhile.
    async fn room(&self) -> Option<usize> {
        self.watch.pause_body(self.feed.is_full());
        let room = self.feed.room().await;
        self.watch.pause_body(false);
        room
    }
}
