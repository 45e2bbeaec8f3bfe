//! The memory of the main thread's stack.

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr::addr_of;

use magnus::{Error, Object, RModule, function};
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// How many bytes below the existing frames are kept for further frames.
const MARGIN_BYTES: usize = 256 * 1024;

/// Defines the function on `Carat::Native`.
pub(crate) fn define(native: RModule) -> Result<(), Error> {
    native.define_singleton_method("trim_stack", function!(trim_stack, 0))
}

/// Returns the part of the main thread's stack that is not in use to the kernel, and whether there was one. Ruby's start
/// writes to all 8 MB where the compiler probes each page of a large frame (`-fstack-clash-protection`, as in Debian 13).
/// Does nothing on other stacks.
fn trim_stack() -> bool {
    let frame = 0_u8;
    let pointer = addr_of!(frame) as usize;
    black_box(&frame);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let Some((start, _)) =
        main_stack(&maps).filter(|(start, end)| (*start..*end).contains(&pointer))
    else {
        return false;
    };
    let page = page_size();
    let unused = pointer.saturating_sub(MARGIN_BYTES) / page * page;
    let Some(length) = unused.checked_sub(start).filter(|length| *length > 0) else {
        return false;
    };
    // SAFETY: the range is a part of this thread's stack, since that contains the pointer, and lies below all frames:
    // nothing refers to it, and the kernel provides new pages when the stack grows into it.
    unsafe { madvise(start as *mut c_void, length, Advice::LinuxDontNeed).is_ok() }
}

/// First address and end of the main thread's stack, from the text of `/proc/self/maps`.
fn main_stack(maps: &str) -> Option<(usize, usize)> {
    let line = maps.lines().find(|line| line.ends_with(" [stack]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((address(start)?, address(end)?))
}

fn address(hexadecimal: &str) -> Option<usize> {
    usize::from_str_radix(hexadecimal, 16).ok()
}
