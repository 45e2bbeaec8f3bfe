//! Bytes in memory on their way from or to a descriptor.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{BorrowedFd, RawFd};
use std::slice;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

/// How many bytes a pipe accepts at once, if it accepts any (POSIX: `PIPE_BUF`).
const ATOMIC_LIMIT: usize = 4096;

/// The offset that means the current position for `preadv2` and `pwritev2`.
pub(crate) const HERE: u64 = u64::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// The part of an `IO::Buffer` that is still to be moved.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) base: *mut u8,
    pub(crate) size: usize,
}

/// The file that one call reads or writes.
#[derive(Clone, Copy)]
pub(crate) struct File {
    pub(crate) number: RawFd,
    pub(crate) direction: Direction,
    pub(crate) from: u64,
}

// SAFETY: it is used only inside `gvl::leave`, on the same thread, while the buffer is locked.
unsafe impl Send for Span {}

impl Span {
    pub(crate) fn cut(self, limit: usize) -> Span {
        Span {
            base: self.base,
            size: self.size.min(limit),
        }
    }

    /// Makes one system call, and repeats it when it is interrupted.
    pub(crate) fn call(self, file: File, flags: ReadWriteFlags) -> Result<usize, Errno> {
        // SAFETY: only the number is used, and the kernel checks it.
        let descriptor = unsafe { BorrowedFd::borrow_raw(file.number) };
        rustix::io::retry_on_intr(|| match file.direction {
            Direction::Read => {
                // SAFETY: the span lies within the buffer, which is not empty and which nobody else uses meanwhile.
                let memory = unsafe { slice::from_raw_parts_mut(self.base, self.size) };
                preadv2(descriptor, &mut [IoSliceMut::new(memory)], file.from, flags)
            }
            Direction::Write => {
                // SAFETY: as above.
                let memory = unsafe { slice::from_raw_parts(self.base, self.size) };
                pwritev2(descriptor, &[IoSlice::new(memory)], file.from, flags)
            }
        })
    }
}

/// Makes the system call after `poll`, for terminals and the like, which lack `RWF_NOWAIT`.
pub(crate) fn ready_call(span: Span, file: File) -> Result<usize, Errno> {
    // SAFETY: only the number is used, and the kernel checks it.
    let descriptor = unsafe { BorrowedFd::borrow_raw(file.number) };
    if fcntl_getfl(descriptor)?.contains(OFlags::NONBLOCK) {
        return span.call(file, ReadWriteFlags::empty());
    }
    let events = match file.direction {
        Direction::Read => PollFlags::IN,
        Direction::Write => PollFlags::OUT,
    };
    let mut asked = [PollFd::from_borrowed_fd(descriptor, events)];
    if poll(&mut asked, Some(&Timespec::default()))? == 0 {
        return Err(Errno::AGAIN);
    }
    span.cut(ATOMIC_LIMIT).call(file, ReadWriteFlags::empty())
}

/// Whether epoll does not support the file.
pub(crate) fn is_file(file: File) -> bool {
    // SAFETY: only the number is used, and the kernel checks it.
    let descriptor = unsafe { BorrowedFd::borrow_raw(file.number) };
    let kind = fstat(descriptor).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(
        kind,
        Ok(FileType::RegularFile | FileType::BlockDevice | FileType::Directory)
    )
}
