use std::io::{self, Write};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use rustix::io::Errno;

use crate::request::bodies::RequestBodies;
use crate::request::sinks::decoded_piece::DecodedPiece;
use carat_exchange::{
    InlineBytes, MemoryAccount, MemoryReservation, Refusal, Spool, SpoolFile, SpoolReservation,
};
use carat_files::BODY_THREADS;

/// A [`Spool`] that is being written. Pieces are gathered in a buffer of `body_buffer` bytes. A full
/// buffer is written on another thread, because a disk may be slow. While memory is short, each piece is
/// written by itself.
pub struct Spooler<'a> {
    bodies: &'a RequestBodies,
    file: Arc<SpoolFile>,
    gathered: Vec<u8>,
    /// The memory reserved for `gathered`.
    memory: MemoryReservation,
}

impl<'a> Spooler<'a> {
    /// Creates the file in `spool_dir`, unless too many are open.
    pub async fn create(
        bodies: &'a RequestBodies,
        memory: &Rc<MemoryAccount>,
    ) -> Result<Spooler<'a>, Refusal> {
        let reservation = SpoolReservation::of_file(&bodies.quota);
        let reservation = reservation.ok_or(Refusal::NoDescriptors)?;
        let directory = bodies.settings.spool_dir.clone();
        let file = BODY_THREADS.try_run(move || {
            let file = tempfile::tempfile_in(directory)?;
            Ok(SpoolFile::of_body(file, reservation))
        });
        let file = file.await;
        Ok(Spooler {
            bodies,
            file: Arc::new(file.map_err(|error| refuse(&error, bodies))?),
            gathered: Vec::new(),
            memory: MemoryReservation::of(memory),
        })
    }

    /// Appends `data`. Refuses it when `spool_limit` or the disk has no room for it.
    pub async fn write(&mut self, mut data: &[u8]) -> Result<(), Refusal> {
        if !self.file.held().grow(data.len() as u64) {
            return Err(Refusal::SpoolLimit);
        }
        if self.gathered.capacity() == 0 && !self.has_buffer() {
            return self.write_through(data).await;
        }
        while !data.is_empty() {
            let room = self.gathered.capacity() - self.gathered.len();
            let (now, later) = data.split_at(data.len().min(room));
            self.gathered.extend_from_slice(now);
            if now.len() == room {
                self.flush().await?;
            }
            data = later;
        }
        self.save_memory().await
    }

    /// Writes a body that was in memory, as it is.
    pub(crate) async fn write_inline(&mut self, body: InlineBytes) -> Result<(), Refusal> {
        if !self.file.held().grow(body.bytes().len() as u64) {
            return Err(Refusal::SpoolLimit);
        }
        (self.gathered, self.memory) = body.into_parts();
        self.flush().await?;
        self.release();
        Ok(())
    }

    /// Whether there is memory for a buffer, which is then allocated.
    fn has_buffer(&mut self) -> bool {
        let size = self.bodies.settings.body_buffer;
        let fits = self.memory.try_grow(size);
        if fits {
            self.gathered.reserve_exact(size);
        }
        fits
    }

    /// Writes `data` without a buffer, when it is its turn.
    async fn write_through(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let memory = Rc::clone(self.memory.account().memory());
        let _turn = memory.turn_to_write().await;
        for piece in data.chunks(self.bodies.settings.body_buffer) {
            self.memory.set(piece.len());
            self.gathered.extend_from_slice(piece);
            self.flush().await?;
        }
        self.release();
        Ok(())
    }

    /// While memory is short, writes what is gathered and gives up the buffer.
    async fn save_memory(&mut self) -> Result<(), Refusal> {
        if self.memory.account().memory().is_short() {
            if !self.gathered.is_empty() {
                self.flush().await?;
            }
            self.release();
        }
        Ok(())
    }

    fn release(&mut self) {
        self.gathered = Vec::new();
        self.memory.set(0);
    }

    /// Writes the gathered bytes and then these pieces, which it returns for reuse.
    pub(crate) async fn write_all(
        &mut self,
        pieces: Vec<DecodedPiece>,
    ) -> Result<Vec<DecodedPiece>, Refusal> {
        let bytes: usize = pieces.iter().map(|piece| piece.bytes().len()).sum();
        if !self.file.held().grow(bytes as u64) {
            return Err(Refusal::SpoolLimit);
        }
        if !self.gathered.is_empty() {
            self.flush().await?;
        }
        let file = Arc::clone(&self.file);
        let written = BODY_THREADS.try_run(move || {
            for piece in &pieces {
                (&**file).write_all(piece.bytes())?;
            }
            Ok(pieces)
        });
        written.await.map_err(|error| refuse(&error, self.bodies))
    }

    /// The complete body.
    pub async fn finish(mut self) -> Result<Spool, Refusal> {
        if !self.gathered.is_empty() {
            self.flush().await?;
        }
        Ok(Spool::new(self.file))
    }

    /// Writes the gathered bytes and keeps the buffer.
    async fn flush(&mut self) -> Result<(), Refusal> {
        let file = Arc::clone(&self.file);
        let mut gathered = mem::take(&mut self.gathered);
        let written = BODY_THREADS.try_run(move || {
            (&**file).write_all(&gathered)?;
            gathered.clear();
            Ok(gathered)
        });
        self.gathered = written.await.map_err(|error| refuse(&error, self.bodies))?;
        Ok(())
    }
}

/// Logs why a body cannot be stored, and returns the refusal.
fn refuse(error: &io::Error, bodies: &RequestBodies) -> Refusal {
    let refusal = refusal_for(error);
    let message = match refusal {
        Refusal::SpoolFull => {
            "no room for a request body: free some space, or choose another spool_dir"
        }
        _ => "cannot spool a request body",
    };
    let directory = bodies.settings.spool_dir.display();
    bodies
        .log
        .error(message, &[("spool_dir", &directory), ("cause", error)]);
    refusal
}

fn refusal_for(error: &io::Error) -> Refusal {
    if let Some(Errno::MFILE | Errno::NFILE) = Errno::from_io_error(error) {
        return Refusal::NoDescriptors;
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Refusal::SpoolFull
        }
        _ => Refusal::SpoolFailed,
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    /// procfs has no `O_TMPFILE`, like overlayfs before Linux 6.1: the error is that of the fallback, `O_CREAT`.
    #[test]
    fn a_file_system_without_nameless_files_is_asked_for_one_with_a_name() {
        let error = tempfile::tempfile_in("/proc").expect_err("procfs takes no file");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}
