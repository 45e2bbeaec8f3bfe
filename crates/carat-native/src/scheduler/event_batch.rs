//! The events that one call of `epoll_pwait2` returns.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, Event};
use rustix::io::Errno;

use super::epoll::WAKER;

/// The largest number of events that are fetched in one call.
const EVENTS_LIMIT: usize = 256;

/// Whether the kernel, or a filter of system calls, lacks `epoll_pwait2` (Linux 5.11): limits are then rounded up to
/// milliseconds.
static IS_COARSE: AtomicBool = AtomicBool::new(false);

/// Events from the kernel, in memory that is reused.
#[derive(Default)]
pub(crate) struct EventBatch(Vec<Event>);

// SAFETY: an event is two numbers; the pointer that one of them could be is never used.
unsafe impl Send for EventBatch {}

impl EventBatch {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The token and the flags of each event, without the waker's.
    pub(crate) fn events(&self) -> impl Iterator<Item = (u64, u16)> {
        let events = self.0.iter().map(|event| {
            let (data, flags) = (event.data, event.flags);
            let flags = u16::try_from(flags.bits() & 0xFFFF).unwrap_or_default();
            (data.u64(), flags)
        });
        events.filter(|(token, _)| *token != WAKER)
    }

    /// Waits until something happens, or for `limit`.
    pub(crate) fn fill(&mut self, epoll: BorrowedFd<'_>, limit: Option<Duration>) {
        self.0.clear();
        self.0.reserve(EVENTS_LIMIT);
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let is_exact = match &limit {
            Some(limit) if limit.tv_nsec % 1_000_000 != 0 => self.fill_exactly(epoll, limit),
            _ => false,
        };
        if !is_exact {
            let room = rustix::buffer::spare_capacity(&mut self.0);
            // The only error of a valid instance is EINTR, which is no event either.
            let _ = epoll::wait(epoll, room, limit.as_ref());
        }
    }

    /// Returns false when the kernel lacks the call. glibc has no function for it before 2.35.
    fn fill_exactly(&mut self, epoll: BorrowedFd<'_>, limit: &Timespec) -> bool {
        if IS_COARSE.load(Ordering::Relaxed) {
            return false;
        }
        let limit = libc::timespec {
            tv_sec: limit.tv_sec,
            tv_nsec: limit.tv_nsec,
        };
        // SAFETY: the kernel writes at most as many events as are reserved, in the layout that rustix declares for it.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                epoll.as_raw_fd(),
                self.0.as_mut_ptr(),
                EVENTS_LIMIT,
                &raw const limit,
                ptr::null::<libc::sigset_t>(),
                0_usize,
            )
        };
        if let Ok(count) = usize::try_from(count) {
            // SAFETY: the kernel has written this many.
            unsafe { self.0.set_len(count) };
        } else if Errno::from_io_error(&std::io::Error::last_os_error()) != Some(Errno::INTR) {
            IS_COARSE.store(true, Ordering::Relaxed);
            return false;
        }
        true
    }
}
