//! An eventfd that interrupts a wait.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, write};

/// A new bell. It is watched for edges and never read, so hearing it costs no system call.
pub(crate) fn cast() -> Result<OwnedFd, Errno> {
    eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

/// Ends the wait of whoever watches the bell; any thread may, with Ruby's lock or without.
pub(crate) fn ring(bell: BorrowedFd<'_>) {
    // It can only fail when 2^64 - 2 rings were not heard.
    let _ = write(bell, &1_u64.to_ne_bytes());
}
