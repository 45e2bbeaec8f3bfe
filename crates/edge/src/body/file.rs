use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::task::{JoinHandle, spawn_blocking};

/// How much of a file is read at once; at most one such piece waits for a slow client.
const PIECE_LIMIT: usize = 64 * 1024;

/// A part of a file on its way to a client, read off the thread that serves the connections.
#[derive(Debug)]
pub(crate) struct FileBody {
    file: Arc<File>,
    offset: u64,
    left: u64,
    allows_ranges: bool,
    reading: Option<JoinHandle<io::Result<Bytes>>>,
}

impl FileBody {
    /// `length` bytes from `offset`.
    pub(crate) fn new(file: File, offset: u64, length: u64) -> FileBody {
        FileBody {
            file: Arc::new(file),
            offset,
            left: length,
            allows_ranges: false,
            reading: None,
        }
    }

    /// The same; a client may ask for ranges of it.
    pub(crate) fn allowing_ranges(mut self) -> FileBody {
        self.allows_ranges = true;
        self
    }

    /// Whether a client may ask for ranges of it.
    pub(super) fn allows_ranges(&self) -> bool {
        self.allows_ranges
    }

    /// The bytes of `range`, counted from the next byte and within what is left.
    pub(super) fn part(&self, range: &Range<u64>) -> FileBody {
        FileBody {
            file: Arc::clone(&self.file),
            offset: self.offset + range.start,
            left: range.end - range.start,
            allows_ranges: false,
            reading: None,
        }
    }

    /// Bytes still to come.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The next piece; an error when the file has become shorter.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let (file, offset, left) = (&self.file, self.offset, self.left);
        let reading = self.reading.get_or_insert_with(|| {
            let file = Arc::clone(file);
            spawn_blocking(move || read_piece(&file, offset, left))
        });
        let piece =
            ready!(Pin::new(reading).poll(cx)).unwrap_or_else(|error| Err(io::Error::other(error)));
        self.reading = None;
        if let Ok(piece) = &piece {
            self.offset += piece.len() as u64;
            self.left -= piece.len() as u64;
        }
        Poll::Ready(Some(piece))
    }
}

fn read_piece(file: &File, offset: u64, left: u64) -> io::Result<Bytes> {
    let wanted = usize::try_from(left).map_or(PIECE_LIMIT, |left| left.min(PIECE_LIMIT));
    let mut piece = vec![0; wanted];
    let count = file.read_at(&mut piece, offset)?;
    if count == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
    }
    piece.truncate(count);
    Ok(piece.into())
}
