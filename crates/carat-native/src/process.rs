//! What Ruby cannot ask of the kernel by itself.

use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};

use libc::c_int;
use magnus::{Error, Object, RModule, RString, Ruby, function};
use rustix::fs::{AtFlags, CWD, linkat};
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::error;

/// Descriptors below this are the standard streams.
const FIRST_DESCRIPTOR: RawFd = 3;

/// Defines the functions on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("die_with_parent", function!(die_with_parent, 0))?;
    native.define_singleton_method("close_listeners", function!(close_listeners, 0))?;
    native.define_singleton_method("link_file", function!(link_file, 2))?;
    native.define_singleton_method("limit_arenas", function!(limit_arenas, 1))?;
    native.define_singleton_method("trim_memory", function!(trim_memory, 0))?;
    Ok(())
}

/// Has the kernel kill this process when its parent dies; the caller checks that the parent still lives.
fn die_with_parent(ruby: &Ruby) -> Result<(), Error> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|failure| error::link(ruby, failure))
}

/// Closes every inherited socket that listens, and returns how many there were: a listener that lived on in a
/// Ruby process would keep its port taken when the edge is gone.
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

/// Gives the file behind a descriptor a name; false when it is none that can get one. Raises
/// `SystemCallError`.
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

/// Has the threads that are started from now on share so many of the allocator's arenas; false where there are none.
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

/// Gives the pages that the allocator keeps for later back to the kernel, whichever allocator it is; false where it has
/// none or cannot.
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
