use std::io;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::Spool;
use crate::dispatch::CallBody;
use crate::http::{Refusal, Watch};
use crate::server::Server;

/// Receives the body of a request: a small one in memory, a larger one in a file.
pub(crate) async fn receive(
    body: Incoming,
    watch: &Watch,
    server: &Server,
) -> Result<CallBody, Refusal> {
    let announced = body.size_hint().exact();
    if announced.is_some_and(|bytes| bytes > server.settings.max_body) {
        return Err(Refusal::BodyTooLarge);
    }
    let receiver = Receiver {
        server,
        held: Vec::new(),
        spool: None,
        received: 0,
    };
    receiver.take_all(body, watch).await
}

/// A body that is being received.
struct Receiver<'a> {
    server: &'a Server,
    /// The body as long as it is small.
    held: Vec<u8>,
    /// The body as soon as it is not.
    spool: Option<Spool>,
    received: u64,
}

impl Receiver<'_> {
    async fn take_all(mut self, mut body: Incoming, watch: &Watch) -> Result<CallBody, Refusal> {
        while let Some(frame) = body.frame().await {
            // An error here is the guard's, who has left its reason with the watch, or the client
            // has gone, and nobody reads the answer.
            let frame = frame.map_err(|_| watch.refusal().unwrap_or(Refusal::TooSlow))?;
            // Trailers are dropped: they could shadow headers that a proxy has checked.
            if let Ok(data) = frame.into_data() {
                self.take(data).await?;
            }
        }
        Ok(self.finish())
    }

    async fn take(&mut self, data: Bytes) -> Result<(), Refusal> {
        self.received += data.len() as u64;
        if self.received > self.server.settings.max_body {
            return Err(Refusal::BodyTooLarge);
        }
        if self.spool.is_none()
            && self.held.len() + data.len() <= self.server.settings.inline_body_limit
        {
            self.held.extend_from_slice(&data);
            return Ok(());
        }
        self.spill(data).await.map_err(|error| self.failed(&error))
    }

    /// Writes to the file, which begins with what was held.
    async fn spill(&mut self, data: Bytes) -> io::Result<()> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            empty => empty.insert(Spool::create(&self.server.settings.spool_dir).await?),
        };
        if !self.held.is_empty() {
            spool
                .write(Bytes::from(std::mem::take(&mut self.held)))
                .await?;
        }
        spool.write(data).await
    }

    fn failed(&self, error: &io::Error) -> Refusal {
        let directory = self.server.settings.spool_dir.display();
        self.server.log.error(
            "cannot spool a request body",
            &[("spool_dir", &directory), ("cause", error)],
        );
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refusal::SpoolFull,
            _ => Refusal::SpoolFailed,
        }
    }

    fn finish(self) -> CallBody {
        match self.spool {
            Some(spool) => CallBody::Spooled(spool),
            None if self.held.is_empty() => CallBody::None,
            None => CallBody::Inline(self.held),
        }
    }
}
