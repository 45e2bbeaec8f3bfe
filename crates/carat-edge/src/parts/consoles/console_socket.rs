use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::task::Poll;

use carat_dispatch::{FrameSocket, FrameTransport};
use carat_link::{Inbox, Outbox};
use carat_supervisor::ExitStatus;
use carat_wire::Kind;
use carat_wire::control::{
    Exited, ONE_OFF_DESCRIPTORS, ONE_OFF_LIMIT, decode_signal, encode_boot_failed, encode_signal,
};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use crate::supervise::OneOffReport;

/// The connection of a client that wants a console. After the client's request over HTTP, it
/// carries frames.
pub(super) struct ConsoleSocket {
    socket: FrameSocket,
    inbox: Inbox,
}

impl ConsoleSocket {
    /// Waits until the response is sent. `None` if the client is gone, or has sent more before the
    /// response.
    pub(super) async fn accept(upgrade: OnUpgrade) -> Option<ConsoleSocket> {
        let upgraded = upgrade.await.ok()?;
        let parts = upgraded.downcast::<TokioIo<UnixStream>>().ok()?;
        let stream = parts.io.into_inner().into_std().ok()?;
        Some(ConsoleSocket {
            socket: FrameSocket::new(stream)
                .ok()
                .filter(|_| parts.read_buf.is_empty())?,
            inbox: Inbox::default(),
        })
    }

    /// Waits for what to run, and the client's standard streams, or says why that is refused.
    pub(super) async fn order(&mut self) -> Result<(Vec<u8>, Vec<OwnedFd>), &'static str> {
        const MALFORMED: &str = "the request for a console is malformed";
        loop {
            if !self.fill().await {
                return Err(MALFORMED);
            }
            let Inbox {
                frames,
                descriptors,
                ..
            } = &mut self.inbox;
            // The length is checked before anything else of the frame is stored.
            if frames.announced() > ONE_OFF_LIMIT {
                return Err("the command and its environment are too long");
            }
            if descriptors.len() > ONE_OFF_DESCRIPTORS {
                return Err(MALFORMED);
            }
            let frame = match frames.next() {
                Ok(Some(frame)) if frame.kind == Kind::OneOff => frame,
                Ok(None) => continue,
                _ => return Err(MALFORMED),
            };
            let own = descriptors.take(ONE_OFF_DESCRIPTORS, frame.has_first_descriptor);
            let own = own.map_err(|_| MALFORMED)?;
            return Ok((frame.payload.to_vec(), own.collect()));
        }
    }

    /// Waits for the number of a signal. `None` when the client is gone, or sends anything else.
    pub(super) async fn signal(&mut self) -> Option<i32> {
        loop {
            match self.inbox.frames.next() {
                Ok(Some(frame)) if frame.kind == Kind::Signal => {
                    let number = decode_signal(frame.payload).ok()?;
                    return i32::try_from(number).ok();
                }
                Ok(None) => {}
                _ => return None,
            }
            let is_open = self.fill().await && self.inbox.descriptors.is_empty();
            if !is_open || self.inbox.frames.announced() > ONE_OFF_LIMIT {
                return None;
            }
        }
    }

    /// Sends the client a report. All reports of a console together fit into its socket, whether
    /// the client reads or not.
    pub(super) async fn report(&self, report: OneOffReport) {
        let mut outbox = Outbox::default();
        let out = outbox.buffer();
        match report {
            OneOffReport::Begun => encode_signal(out, Kind::Begin),
            OneOffReport::Ended(Ok(status)) => exited(status).encode(out),
            OneOffReport::Ended(Err(cause)) => encode_boot_failed(out, cause.as_bytes()),
        }
        // A client that is gone is noticed by the next read.
        let _ = poll_fn(|cx| Poll::Ready(self.socket.poll_flush(cx, &mut outbox))).await;
    }

    /// Reads once. Returns `false` if the client is gone.
    async fn fill(&mut self) -> bool {
        let inbox = &mut self.inbox;
        let filled = poll_fn(|cx| self.socket.poll_fill(cx, inbox)).await;
        filled.is_ok_and(|is_open| is_open)
    }
}

fn exited(status: ExitStatus) -> Exited {
    let (is_signal, number) = match status {
        ExitStatus::Exited(status) => (0, status),
        ExitStatus::Signaled { signal, .. } => (1, signal),
        ExitStatus::Unknown => (0, 1),
    };
    Exited {
        is_signal,
        number: number.unsigned_abs(),
    }
}
