use std::fs::File;
use std::io::{self, IoSliceMut};
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2};
use tokio::task::{JoinHandle, spawn};

use carat_exchange::FileRange;
use carat_files::FILE_THREADS;

/// The distance between the bytes whose pages are checked. The kernel reads files ahead in steps of at least 128 KiB,
/// and drops pages from its cache in rows of up to 128 KiB.
const STEP: usize = 64 * 1024;

/// How many bytes of a file a thread fetches from the disk at once.
const FETCH_LIMIT: u64 = 1024 * 1024;

/// Which pages of a file are cached. Only these are sent with sendfile(2): for other pages, it would wait for the disk.
pub(super) struct FilePages {
    /// The end of the part that a thread has fetched, which counts as cached where the file system does not say.
    fetched: u64,
    /// Whether the file system reports which pages are cached; overlayfs and tmpfs, for two, do not.
    reports_cached: bool,
    fetching: Option<Reading<u64>>,
    /// An empty task that is finished when other connections have had their turn.
    turn: Option<JoinHandle<()>>,
}

impl FilePages {
    pub(super) fn new() -> FilePages {
        FilePages {
            fetched: 0,
            reports_cached: true,
            fetching: None,
            turn: None,
        }
    }

    /// Lets other connections have their turn. A wake-up would not do: once hyper has written a piece, it asks for
    /// the next one at once.
    pub(super) fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let turn = self.turn.get_or_insert_with(|| spawn(async {}));
        // An empty task cannot fail.
        let _ = ready!(Pin::new(turn).poll(cx));
        self.turn = None;
        Poll::Ready(())
    }

    /// How many bytes at the beginning of `range` are cached, at most `limit`. Waits until there are some; an error when the
    /// file was truncated.
    pub(super) fn poll_cached(
        &mut self,
        range: &FileRange,
        limit: u64,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<u64>> {
        let wanted = range.length.min(limit);
        let mut cached = match self.fetching {
            Some(_) => 0,
            // The kernel may have dropped pages since a thread fetched them.
            None if self.reports_cached => self.look(&range.file, range.offset, wanted),
            None => self.fetched.saturating_sub(range.offset),
        };
        if cached == 0 {
            self.fetched = ready!(self.poll_fetch(range, cx))?;
            cached = self.fetched.saturating_sub(range.offset);
        }
        Poll::Ready(Ok(cached.min(wanted)))
    }

    /// How many bytes from `offset` are cached.
    fn look(&mut self, file: &File, offset: u64, wanted: u64) -> u64 {
        for at in steps(offset, wanted) {
            let byte = &mut [0];
            let room = &mut [IoSliceMut::new(byte)];
            match preadv2(file, room, at, ReadWriteFlags::NOWAIT) {
                Ok(1) => {}
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => return at - offset,
                Err(_) => {
                    self.reports_cached = false;
                    return 0;
                }
            }
        }
        wanted
    }

    /// Fetches the next part on another thread, and returns where it ends.
    fn poll_fetch(&mut self, range: &FileRange, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let fetching = self.fetching.get_or_insert_with(|| {
            let (file, offset) = (Arc::clone(&range.file), range.offset);
            let wanted = range.length.min(FETCH_LIMIT);
            read(move || fetch(&file, offset, wanted))
        });
        let fetched = ready!(fetching.as_mut().poll(cx));
        self.fetching = None;
        Poll::Ready(fetched)
    }
}

/// A read from a disk that runs on another thread.
pub(super) type Reading<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// Reads on a thread that may wait for a disk.
pub(super) fn read<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Reading<T> {
    Box::pin(FILE_THREADS.try_run(work))
}

/// The offsets of the bytes whose pages are checked.
fn steps(offset: u64, wanted: u64) -> impl Iterator<Item = u64> {
    (offset..offset + wanted).step_by(STEP)
}

fn fetch(file: &File, offset: u64, wanted: u64) -> io::Result<u64> {
    // The advice is a hint: without it, the bytes below arrive one after the other.
    let _ = fadvise(file, offset, NonZeroU64::new(wanted), Advice::WillNeed);
    for at in steps(offset, wanted) {
        loop {
            match pread(file, &mut [0; 1][..], at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(offset + wanted)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn range(length: usize) -> FileRange {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(&vec![1; length], 0).expect("written");
        FileRange::new(file, 5, length as u64 - 5)
    }

    #[test]
    fn the_first_byte_of_each_step_is_looked_at() {
        let step = STEP as u64;
        let all = |offset, wanted| steps(offset, wanted).collect::<Vec<_>>();
        assert_eq!(all(3, 1), [3]);
        assert_eq!(all(3, step), [3]);
        assert_eq!(all(3, 2 * step + 1), [3, step + 3, 2 * step + 3]);
    }

    #[tokio::test]
    async fn a_part_is_as_long_as_wanted_whether_the_file_system_reports_it_or_not() {
        let mut range = range(3 * 1024 * 1024);
        for reports_cached in [true, false] {
            let mut pages = FilePages::new();
            pages.reports_cached = reports_cached;
            let mut parts = Vec::new();
            let offset = range.offset;
            while range.length > 0 {
                let limit = FETCH_LIMIT / 2 + 1;
                let cached = poll_fn(|cx| pages.poll_cached(&range, limit, cx)).await;
                let cached = cached.expect("there");
                assert!((1..=limit).contains(&cached));
                range.offset += cached;
                range.length -= cached;
                parts.push(cached);
            }
            range.length = parts.iter().sum();
            assert_eq!(range.offset, offset + range.length);
            range.offset = offset;
        }
    }

    #[tokio::test]
    async fn a_file_that_has_become_shorter_is_an_error() {
        for reports_cached in [true, false] {
            let range = range(300_000);
            range.file.set_len(3).expect("truncated");
            let mut pages = FilePages::new();
            pages.reports_cached = reports_cached;
            // Fetched pages may have been dropped since.
            pages.fetched = u64::from(reports_cached) * range.length;
            let cached = poll_fn(|cx| pages.poll_cached(&range, u64::MAX, cx)).await;
            let found = cached.expect_err("shorter").kind();
            assert_eq!(found, io::ErrorKind::UnexpectedEof);
        }
    }
}
