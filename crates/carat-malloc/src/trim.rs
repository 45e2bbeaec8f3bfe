//! `malloc_trim`, which Ruby calls at the end of `Process.warmup` and `GC.compact`.

use std::ffi::{CStr, c_int};
use std::ptr::null_mut;

use tikv_jemalloc_sys::mallctl;

/// The commands for this thread's cache, and for the free pages of all arenas (4096 stands for all).
const COMMANDS: [&CStr; 2] = [c"thread.tcache.flush", c"arena.4096.purge"];

/// Returns free memory to the system. Returns 1, or 0 on failure. The pad is for glibc: jemalloc has no heap top that
/// could keep it.
// SAFETY: jemalloc has no function of this name. It replaces glibc's, which does not know this memory.
#[unsafe(no_mangle)]
pub extern "C" fn malloc_trim(_pad: usize) -> c_int {
    c_int::from(COMMANDS.into_iter().fold(true, |_, command| run(command)))
}

fn run(command: &CStr) -> bool {
    // SAFETY: the command reads and writes nothing.
    let status = unsafe { mallctl(command.as_ptr(), null_mut(), null_mut(), null_mut(), 0) };
    status == 0
}
