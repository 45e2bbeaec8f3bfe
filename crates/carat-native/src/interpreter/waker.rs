//! An eventfd that interrupts a wait.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, write};

/// A new waker. Waits watch it for edges and never read it, so being woken costs no system call.
pub(crate) fn new() -> Result<OwnedFd, Errno> {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

/// Ends the waits of all that watch the waker. Any thread may call it, with or without the GVL.
pub(crate) fn notify(waker: BorrowedFd<'_>) {
    // The write fails only after 2^64 - 2 notifications that nobody has seen.
    let _ = write(waker, &1_u64.to_ne_bytes());
}
