//! The kernel's part: which descriptors are ready.

use std::convert::Infallible;
use std::os::fd::RawFd;

/// `IO::PRIORITY`, as `poll` and epoll number it too.
pub const PRIORITY: u16 = 2;

/// The outcome of asking the kernel to report a descriptor's readiness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Armed {
    /// The poller reports the next event.
    Yes,
    /// The poller does not know this descriptor.
    Unregistered,
    /// The descriptor is a regular file, which is always ready.
    AlwaysReady,
}

/// Reports, once, when a descriptor becomes ready, as epoll does with `EPOLLONESHOT`.
///
/// Events are numbered as `poll` numbers them. A token comes back with the events of a descriptor; `u64::MAX` is no
/// token.
pub trait Poller: Sized {
    /// Why the kernel refuses.
    type Error;

    /// Opens a poller.
    fn open() -> Result<Self, Self::Error>;

    /// Registers a descriptor for the next of `events`.
    fn add(&self, number: RawFd, token: u64, events: u16) -> Result<Armed, Self::Error>;

    /// Arms a registered descriptor again.
    fn modify(&self, number: RawFd, token: u64, events: u16) -> Result<Armed, Self::Error>;

    /// Forgets a descriptor, which may have been closed before.
    fn remove(&self, number: RawFd);

    /// Ends a wait for events.
    fn notify(&self);
}

/// A poller for fibers that wait for no descriptor.
pub struct NoPoller;

impl Poller for NoPoller {
    type Error = Infallible;

    fn open() -> Result<NoPoller, Infallible> {
        Ok(NoPoller)
    }

    fn add(&self, _number: RawFd, _token: u64, _events: u16) -> Result<Armed, Infallible> {
        Ok(Armed::AlwaysReady)
    }

    fn modify(&self, _number: RawFd, _token: u64, _events: u16) -> Result<Armed, Infallible> {
        Ok(Armed::AlwaysReady)
    }

    fn remove(&self, _number: RawFd) {}

    fn notify(&self) {}
}
