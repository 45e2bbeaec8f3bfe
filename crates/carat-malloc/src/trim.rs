//! `malloc_trim`, which Ruby calls at the end of `Process.warmup` and `GC.compact`.

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use tikv_jemalloc_sys::mallctl;

/// This thread's small reserve, and then what all arenas have free: 4096 stands for all of them.
const COMMANDS: [&CStr; 2] = [c"thread.tcache.flush", c"arena.4096.purge"];

/// Gives what is free back to the system; 1, or 0 where that cannot be. The pad is glibc's: jemalloc has no heap whose
/// top could keep it.
// SAFETY: jemalloc has no function of this name, so glibc's, which does not know this memory, is replaced.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_trim(_pad: usize) -> c_int {
    c_int::from(COMMANDS.into_iter().fold(true, |_, command| run(command)))
}

fn run(command: &CStr) -> bool {
    // SAFETY: the command takes nothing and gives nothing.
    let status = unsafe { mallctl(command.as_ptr(), null_mut(), null_mut(), null_mut(), 0) };
    status == 0
}
