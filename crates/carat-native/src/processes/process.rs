//! System calls that Ruby does not offer.

use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};

use libc::{c_int, sched_attr};
use magnus::{Error, Object, RModule, RString, Ruby, function};
use rustix::fs::{AtFlags, CWD, linkat};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::interpreter::error;

/// Descriptors below this are the standard streams.
const FIRST_DESCRIPTOR: RawFd = 3;

/// Defines the functions on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("die_with_parent", function!(die_with_parent, 0))?;
    native.define_singleton_method("close_listeners", function!(close_listeners, 0))?;
    native.define_singleton_method("link_file", function!(link_file, 2))?;
    native.define_singleton_method("limit_arenas", function!(limit_arenas, 1))?;
    native.define_singleton_method("limit_slice", function!(limit_slice, 1))?;
    native.define_singleton_method("trim_memory", function!(trim_memory, 0))?;
    Ok(())
}

/// Makes the kernel kill this process when its parent dies. The caller has to check that the parent is still alive.
fn die_with_parent(ruby: &Ruby) -> Result<(), Error> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|failure| error::link(ruby, failure))
}

/// Closes every inherited socket that listens, and returns how many there were. A listener that stays open in a Ruby
/// process would keep its port occupied after the edge has ended.
fn close_listeners(ruby: &Ruby) -> Result<usize, Error> {
    let listed =
        std::fs::read_dir("/proc/self/fd").map_err(|failure| error::link(ruby, failure))?;
    let numbers: Vec<RawFd> = listed
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|number| *number >= FIRST_DESCRIPTOR)
        .collect();
    Ok(numbers
        .into_iter()
        .filter(|number| close_listener(*number))
        .count())
}

/// Links the file of a descriptor at a path. Returns false if it cannot be linked there. Raises `SystemCallError`.
fn link_file(ruby: &Ruby, descriptor: RawFd, path: RString) -> Result<bool, Error> {
    let file = format!("/proc/self/fd/{descriptor}");
    // SAFETY: no Ruby code runs while the slice is used.
    let path = unsafe { path.as_slice() };
    match linkat(CWD, file, CWD, path, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::XDEV | Errno::PERM) => Ok(false),
        Err(errno) => Err(error::system_call(ruby, errno)),
    }
}

/// Limits how many arenas of the allocator new threads share. Returns false if the allocator has no such limit.
fn limit_arenas(number: c_int) -> bool {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes numbers, and the allocator's own lock.
    let is_done = unsafe { libc::mallopt(libc::M_ARENA_MAX, number) } == 1;
    #[cfg(not(target_env = "gnu"))]
    let is_done = {
        let _ = number;
        false
    };
    is_done
}

/// Asks the kernel to let this thread compute for so many nanoseconds at a time: the shorter, the sooner it gets a CPU
/// when it wakes. Threads and processes that it makes, and the program that it executes, inherit this. 0 asks for the
/// usual time. Returns false if the kernel refuses; before Linux 6.12 it agrees, and changes nothing. See
/// `sched_setattr(2)`.
fn limit_slice(nanoseconds: u64) -> bool {
    let size = u32::try_from(size_of::<sched_attr>()).unwrap_or_default();
    // SAFETY: all of its fields are numbers.
    let mut attributes: sched_attr = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes `size` bytes at most.
    let read = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
    if read != 0 || i32::try_from(attributes.sched_policy) != Ok(libc::SCHED_OTHER) {
        return false;
    }
    attributes.sched_runtime = nanoseconds;
    // SAFETY: the kernel only reads.
    (unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) }) == 0
}

/// Returns free pages of the allocator to the kernel. Returns false if there are none, or if the allocator cannot
/// return pages.
fn trim_memory() -> bool {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes a number, and the allocator's own locks.
    let is_done = unsafe { libc::malloc_trim(0) } == 1;
    #[cfg(not(target_env = "gnu"))]
    let is_done = false;
    is_done
}

fn close_listener(number: RawFd) -> bool {
    // SAFETY: only borrowed until it is known to be a listener, which nothing in this process can own yet:
    // this runs before the application is loaded, and Ruby itself opens none.
    let descriptor = std::mem::ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(number) });
    let listens = sockopt::socket_acceptconn(descriptor.as_fd()).unwrap_or(false);
    if listens {
        drop(std::mem::ManuallyDrop::into_inner(descriptor));
    }
    listens
}
