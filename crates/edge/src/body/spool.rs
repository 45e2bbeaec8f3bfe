use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use rustix::fs::{Mode, OFlags};
use tokio::task::spawn_blocking;

/// A request body in an unlinked temporary file: it is gone with its last descriptor.
#[derive(Debug)]
pub(crate) struct Spool {
    file: Arc<File>,
    length: u64,
}

impl Spool {
    /// Makes the file in `directory`.
    pub(crate) async fn create(directory: &Path) -> io::Result<Spool> {
        let directory = directory.to_owned();
        let file = blocking(move || unlinked(&directory)).await?;
        Ok(Spool {
            file: Arc::new(file),
            length: 0,
        })
    }

    /// Appends `bytes`, off the thread that serves the connections: a disk may be slow.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = Arc::clone(&self.file);
        let bytes = Bytes::copy_from_slice(bytes);
        self.length += bytes.len() as u64;
        blocking(move || (&*file).write_all(&bytes)).await
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }
}

fn unlinked(directory: &Path) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)?.into())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
