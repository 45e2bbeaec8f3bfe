use std::rc::Rc;

use coding::Decoder;
use tokio::sync::oneshot;
use tokio::task::spawn_local;

use super::arriving::Arriving;
use super::receive::pass;
use super::sink::Sink;
use crate::dispatch::{Feed, Intake, feed};
use crate::http::{Refusal, Watch};

/// Tells why a body that is handed over while it arrives has broken off; an error when it has not.
pub(crate) type Breakage = oneshot::Receiver<Refusal>;

/// A body that is handed over while it arrives, beside the request and its answer.
pub(super) struct Upload {
    pub(super) arriving: Arriving,
    pub(super) decoder: Option<Box<Decoder>>,
    /// Whether the client sends nothing before it is told to go on.
    pub(super) awaits_leave: bool,
}

impl Upload {
    /// Begins. Nothing is asked of the client before the application reads.
    pub(super) fn start(self) -> (Intake, Breakage) {
        let announced = self.arriving.announced();
        let (feed, intake) = feed(announced.filter(|_| self.decoder.is_none()));
        let (broken, breakage) = oneshot::channel();
        self.arriving.watch().pause_body(true);
        spawn_local(async move {
            if let Err(refusal) = self.run(feed).await {
                // Whoever has been answered needs no reason.
                let _ = broken.send(refusal);
            }
        });
        (intake, breakage)
    }

    async fn run(self, feed: Feed) -> Result<(), Refusal> {
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
        tokio::select! {
            biased;
            () = unread => {}
            done = handed_over => return done,
        }
        if awaits_leave {
            arriving.abandon();
        } else {
            arriving.discard().await;
        }
        Ok(())
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
