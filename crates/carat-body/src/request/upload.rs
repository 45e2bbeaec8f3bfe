use tokio::sync::oneshot;
use tokio::task::spawn_local;

use super::arriving::ArrivingBody;
use super::transfer::transfer;
use super::transform::BodyDecoder;
use crate::request::sinks::{Handover, RequestSink};
use carat_exchange::{BodyReaders, BodySender, BodyStream, Refusal, body_stream};

/// The progress of a body that is forwarded while it arrives.
pub struct UploadProgress {
    outcome: oneshot::Receiver<Result<(), Refusal>>,
    readers: BodyReaders,
}

impl UploadProgress {
    /// Waits until the body is forwarded or discarded; an error says why it broke off.
    pub async fn finished(&mut self) -> Result<(), Refusal> {
        (&mut self.outcome).await.unwrap_or(Ok(()))
    }

    /// Waits until the rest of the body is discarded or given up, if the reply came before the end of the body. The
    /// response headers say whether the connection is kept, so this must be known first.
    pub async fn settled(&mut self) {
        if self.readers.have_left() {
            // The reply is there, so the reason does not matter.
            let _ = self.finished().await;
        }
    }
}

/// Forwards a body while it arrives, concurrently with the request and its reply.
pub(super) struct Upload {
    pub(super) arriving: ArrivingBody,
    pub(super) decoder: Option<Box<dyn BodyDecoder>>,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub(super) awaits_continue: bool,
}

impl Upload {
    /// Starts forwarding. The client is not asked for the body before the application reads.
    pub(super) fn start(self) -> (BodyStream, UploadProgress) {
        let announced = self.arriving.announced();
        let (sender, stream) = body_stream(announced.filter(|_| self.decoder.is_none()));
        let (finished, outcome) = oneshot::channel();
        let readers = sender.readers();
        self.arriving.connection().body.pause(true);
        spawn_local(self.run(sender, finished));
        (stream, UploadProgress { outcome, readers })
    }

    async fn run(self, sender: BodySender, finished: oneshot::Sender<Result<(), Refusal>>) {
        let Upload {
            mut arriving,
            decoder,
            mut awaits_continue,
        } = self;
        let discarded = sender.discarded();
        let handover = Handover::new(sender, arriving.connection());
        let forwarded = async {
            handover.room().await;
            awaits_continue = false;
            let mut sink = RequestSink::Handover(&handover);
            transfer(decoder, &mut arriving, &mut sink).await?;
            handover.end();
            Ok(())
        };
        let outcome = tokio::select! {
            biased;
            () = discarded => None,
            outcome = forwarded => Some(outcome.map_err(Refusal::once_begun)),
        };
        // Sending fails when the request is over already.
        if let Some(outcome) = outcome {
            let _ = finished.send(outcome);
        } else if awaits_continue || !arriving.is_nearly_complete() {
            arriving.abandon();
        } else {
            let _ = finished.send(Ok(()));
            arriving.discard().await;
        }
    }
}
