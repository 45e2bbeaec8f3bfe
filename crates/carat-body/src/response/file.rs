use std::fs::File;
use std::io::{self, IoSliceMut};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};

use super::file_pages::{FilePages, Reading, read};
use carat_exchange::{FileRange, OUTGOING_LIMIT};

/// The size of one read of a file, in bytes. At most one such piece waits for a slow client.
const PIECE_LIMIT: usize = 64 * 1024;

/// How many pieces are read before other connections get a turn. For a fast client, that is 0.2 ms of reading and
/// writing.
const BURST_LIMIT: u8 = 8;

/// Reads a small file, on a thread that may wait for a disk.
pub async fn read_file(file: FileRange) -> io::Result<Bytes> {
    read(|| FileBody::new(file).read_all()).await
}

/// A part of a file on its way to a client. Cached pages are read in place. Other pages are read on another thread,
/// because a disk may be slow.
pub(super) struct FileBody {
    rest: FileRange,
    /// How many pieces were read without a pause.
    burst: u8,
    /// Whether the file system reports which pages are cached; tmpfs, for one, does not.
    reports_cached: bool,
    reading: Option<Reading<Bytes>>,
    /// The file's pages that are known to be in memory; `None` for a small file.
    pages: Option<Box<FilePages>>,
}

impl FileBody {
    /// Reads `range`.
    pub(super) fn new(range: FileRange) -> FileBody {
        let is_large = range.length > PIECE_LIMIT as u64;
        FileBody {
            pages: is_large.then(|| Box::new(FilePages::new())),
            rest: range,
            burst: 0,
            reports_cached: true,
            reading: None,
        }
    }

    /// The part that has not been read.
    pub(super) fn rest(&self) -> &FileRange {
        &self.rest
    }

    /// How many bytes are still to come.
    pub(super) fn left(&self) -> u64 {
        self.rest.length
    }

    /// Reads the whole of a small file; an error when the file was truncated.
    pub(super) fn read_all(self) -> io::Result<Bytes> {
        let FileRange {
            file,
            offset,
            length,
            ..
        } = self.rest;
        let length = usize::try_from(length).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let offset = offset + bytes.len() as u64;
            match pread(&file, spare_capacity(&mut bytes), offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bytes.truncate(length);
        Ok(bytes.into())
    }

    /// The next part that the kernel can send without waiting for a disk; an error when the file was truncated, and
    /// `None` when the part is better read.
    pub(super) fn poll_range(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<FileRange>>> {
        let Some(pages) = self.pages.as_mut().filter(|_| self.rest.length > 0) else {
            return Poll::Ready(None);
        };
        let cached = ready!(pages.poll_cached(&self.rest, OUTGOING_LIMIT as u64, cx));
        let part = cached.map(|cached| {
            let part = self.rest.part(&(0..cached));
            self.rest.offset += cached;
            self.rest.length -= cached;
            part
        });
        Poll::Ready(Some(part))
    }

    /// The next piece; an error when the file was truncated.
    pub(super) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.rest.length == 0 {
            return Poll::Ready(None);
        }
        if self.burst == BURST_LIMIT {
            if let Some(pages) = &mut self.pages {
                ready!(pages.poll_turn(cx));
            }
            self.burst = 0;
        }
        let piece = if let Some(piece) = self.take_cached() {
            self.burst += 1;
            Ok(piece)
        } else {
            let piece = ready!(self.poll_read(cx));
            self.burst = 0;
            piece
        };
        Poll::Ready(Some(piece.and_then(|piece| self.advance(piece))))
    }

    /// The next piece, if its pages are cached.
    fn take_cached(&mut self) -> Option<Bytes> {
        if self.reading.is_some() || !self.reports_cached {
            return None;
        }
        let mut piece = BytesMut::with_capacity(self.wanted());
        piece.resize(self.wanted(), 0);
        let room = &mut [IoSliceMut::new(&mut piece)];
        let FileRange { file, offset, .. } = &self.rest;
        let read = preadv2(file, room, *offset, ReadWriteFlags::NOWAIT);
        self.reports_cached = matches!(read, Ok(_) | Err(Errno::AGAIN | Errno::INTR));
        piece.truncate(read.ok()?);
        (!piece.is_empty()).then(|| piece.freeze())
    }

    /// Reads the next piece on another thread.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let (file, offset, wanted) = (&self.rest.file, self.rest.offset, self.wanted());
        let reading = self.reading.get_or_insert_with(|| {
            let file = Arc::clone(file);
            read(move || read_piece(&file, offset, wanted))
        });
        let piece = ready!(reading.as_mut().poll(cx));
        self.reading = None;
        Poll::Ready(piece)
    }

    fn advance(&mut self, piece: Bytes) -> io::Result<Bytes> {
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.rest.offset += piece.len() as u64;
        self.rest.length -= piece.len() as u64;
        Ok(piece)
    }

    fn wanted(&self) -> usize {
        usize::try_from(self.left()).map_or(PIECE_LIMIT, |left| left.min(PIECE_LIMIT))
    }
}

fn read_piece(file: &File, offset: u64, wanted: usize) -> io::Result<Bytes> {
    let mut piece = Vec::with_capacity(wanted);
    loop {
        match pread(file, spare_capacity(&mut piece), offset) {
            Err(Errno::INTR) => {}
            read => return read.map(|_count| piece.into()).map_err(io::Error::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn content() -> Vec<u8> {
        (0..=250).cycle().take(20 * PIECE_LIMIT + 7).collect()
    }

    fn file() -> File {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(&content(), 0).expect("written");
        file
    }

    fn body(file: File, offset: u64, length: u64) -> FileBody {
        FileBody::new(FileRange::new(file, offset, length))
    }

    async fn next(body: &mut FileBody) -> Option<io::Result<Bytes>> {
        poll_fn(|cx| body.poll_piece(cx)).await
    }

    async fn read(mut body: FileBody) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some(piece) = next(&mut body).await {
            let piece = piece.expect("read");
            assert!((1..=PIECE_LIMIT).contains(&piece.len()));
            bytes.extend_from_slice(&piece);
        }
        assert_eq!(body.left(), 0);
        bytes
    }

    #[tokio::test]
    async fn a_file_comes_in_pieces_and_a_part_of_it_too() {
        let length = content().len() as u64;
        assert_eq!(read(body(file(), 0, length)).await, content());
        let body = body(file(), 5, length - 10);
        let part = |range| FileBody::new(body.rest().part(&range));
        let long = part(3..PIECE_LIMIT as u64 * 2);
        assert_eq!(read(long).await, content()[8..PIECE_LIMIT * 2 + 5]);
        assert_eq!(part(3..9).read_all().expect("read"), content()[8..14]);
        assert_eq!(read(body).await, content()[5..content().len() - 5]);
    }

    #[tokio::test]
    async fn a_file_that_has_become_shorter_is_an_error() {
        let file = file();
        let mut long = body(file.try_clone().expect("a duplicate"), 0, u64::MAX);
        assert!(next(&mut long).await.is_some_and(|piece| piece.is_ok()));
        file.set_len(10).expect("cut");
        let error = next(&mut long).await.expect("more").expect_err("no more");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let error = body(file, 5, 6).read_all().expect_err("too short");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[tokio::test]
    async fn a_large_file_comes_in_parts_that_are_not_read() {
        let length = content().len() as u64;
        let mut large = body(file(), 5, length - 5);
        let mut sent = 5;
        while let Some(part) = poll_fn(|cx| large.poll_range(cx)).await {
            let part = part.expect("a part");
            assert_eq!(part.offset, sent);
            assert!((1..=OUTGOING_LIMIT as u64).contains(&part.length));
            sent += part.length;
        }
        assert_eq!((sent, large.left()), (length, 0));
        let mut small = body(file(), 0, PIECE_LIMIT as u64);
        assert!(poll_fn(|cx| small.poll_range(cx)).await.is_none());
        assert_eq!(small.left(), PIECE_LIMIT as u64);
    }

    #[tokio::test]
    async fn others_have_their_turn_between_two_bursts() {
        let mut body = body(file(), 0, content().len() as u64);
        let turns = poll_fn(|cx| {
            // hyper polls again although the last result was `Pending`.
            let polls = (0..100).map(|_| body.poll_piece(cx));
            Poll::Ready(polls.filter(Poll::is_ready).count())
        });
        assert_eq!(turns.await, usize::from(BURST_LIMIT));
        assert!(next(&mut body).await.is_some());
    }
}
