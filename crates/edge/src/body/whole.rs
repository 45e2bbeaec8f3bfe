use std::io;

use super::Spool;
use crate::dispatch::CallBody;
use crate::http::Refusal;
use crate::server::Server;

/// A body as it is: a small one in memory, a larger one in a file.
pub(super) struct Whole<'a> {
    server: &'a Server,
    /// The body as long as it is small.
    held: Vec<u8>,
    /// The body as soon as it is not.
    spool: Option<Spool>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(server: &'a Server) -> Whole<'a> {
        Whole {
            server,
            held: Vec::new(),
            spool: None,
        }
    }

    /// Appends a piece.
    pub(super) async fn take(&mut self, data: &[u8]) -> Result<(), Refusal> {
        if self.spool.is_none()
            && self.held.len() + data.len() <= self.server.settings.inline_body_limit
        {
            self.held.extend_from_slice(data);
            return Ok(());
        }
        self.spill(data).await.map_err(|error| self.failed(&error))
    }

    /// The body is complete.
    pub(super) fn finish(self) -> CallBody {
        match self.spool {
            Some(spool) => CallBody::Spooled(spool),
            None if self.held.is_empty() => CallBody::None,
            None => CallBody::Inline(self.held),
        }
    }

    /// Writes to the file, which begins with what was held.
    async fn spill(&mut self, data: &[u8]) -> io::Result<()> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            empty => empty.insert(Spool::create(&self.server.settings.spool_dir).await?),
        };
        if !self.held.is_empty() {
            spool.write(&std::mem::take(&mut self.held)).await?;
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
}
