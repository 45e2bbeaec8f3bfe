//! An epoll instance, and the waker that interrupts a wait on it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use carat_fibers::{Armed, Poller};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

use crate::interpreter::waker;

/// The token of the waker's events; no descriptor has it.
pub(crate) const WAKER: u64 = u64::MAX;

/// An epoll instance and its waker. Both are reference-counted, because other threads may use the scheduler during a
/// wait.
pub(crate) struct Epoll {
    epoll: Arc<OwnedFd>,
    waker: Arc<OwnedFd>,
}

impl Epoll {
    /// The epoll instance and the waker.
    pub(crate) fn descriptors(&self) -> (Arc<OwnedFd>, Arc<OwnedFd>) {
        (self.epoll.clone(), self.waker.clone())
    }
}

impl Poller for Epoll {
    type Error = Errno;

    fn open() -> Result<Epoll, Errno> {
        let (epoll, waker) = (epoll::create(CreateFlags::CLOEXEC)?, waker::new()?);
        let edges = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &waker, EventData::new_u64(WAKER), edges)?;
        Ok(Epoll {
            epoll: Arc::new(epoll),
            waker: Arc::new(waker),
        })
    }

    fn add(&self, number: RawFd, token: u64, events: u16) -> Result<Armed, Errno> {
        let data = EventData::new_u64(token);
        armed(epoll::add(
            &self.epoll,
            borrow(number)?,
            data,
            flags(events),
        ))
    }

    fn modify(&self, number: RawFd, token: u64, events: u16) -> Result<Armed, Errno> {
        let data = EventData::new_u64(token);
        armed(epoll::modify(
            &self.epoll,
            borrow(number)?,
            data,
            flags(events),
        ))
    }

    fn remove(&self, number: RawFd) {
        if let Ok(descriptor) = borrow(number) {
            // The call fails for a descriptor that was closed without the scheduler's knowledge. Such a descriptor has
            // left epoll already.
            let _ = epoll::delete(&self.epoll, descriptor);
        }
    }

    fn notify(&self) {
        waker::notify(self.waker.as_fd());
    }
}

fn borrow<'a>(number: RawFd) -> Result<BorrowedFd<'a>, Errno> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: only the number is used, and the kernel checks it.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

fn flags(events: u16) -> EventFlags {
    EventFlags::from_bits_retain(events.into()) | EventFlags::ONESHOT
}

fn armed(done: Result<(), Errno>) -> Result<Armed, Errno> {
    match done {
        Ok(()) => Ok(Armed::Yes),
        Err(Errno::NOENT) => Ok(Armed::Unregistered),
        Err(Errno::PERM) => Ok(Armed::AlwaysReady),
        Err(errno) => Err(errno),
    }
}
