//! The line of Ruby that runs.

use std::collections::HashMap;
use std::ffi::c_int;
use std::slice;

use rb_sys::macros::{RSTRING_LEN, RSTRING_PTR};
use rb_sys::{VALUE, rb_profile_frame_path, rb_profile_frames};

/// The frames that are looked at: those of C, and of Ruby's own methods that are written in Ruby, have no line of
/// the program.
const FRAMES_LIMIT: usize = 16;
const OWN_PATH: &[u8] = b"<internal:";

/// A line: a frame of Ruby, and a number. Both are 0 where no line runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct CallSite {
    pub(crate) frame: VALUE,
    pub(crate) line: c_int,
}

/// Finds lines, and remembers each frame that it has seen. Whoever has it marks them.
#[derive(Default)]
pub(crate) struct CallSites {
    /// Whether a frame is one of the program.
    frames: HashMap<VALUE, bool>,
}

impl CallSites {
    /// The frames, for the collector.
    pub(crate) fn frames(&self) -> impl Iterator<Item = VALUE> + '_ {
        self.frames.keys().copied()
    }

    /// The line that the present thread runs. It must be a thread of Ruby. Nothing is allocated in Ruby's heap.
    pub(crate) fn current(&mut self) -> CallSite {
        let mut frames: [VALUE; FRAMES_LIMIT] = [0; FRAMES_LIMIT];
        let mut lines: [c_int; FRAMES_LIMIT] = [0; FRAMES_LIMIT];
        let limit = c_int::try_from(FRAMES_LIMIT).unwrap_or(0);
        // SAFETY: Ruby writes `limit` frames and lines at most.
        let count = unsafe { rb_profile_frames(0, limit, frames.as_mut_ptr(), lines.as_mut_ptr()) };
        let found = frames.iter().zip(lines);
        found
            .take(usize::try_from(count).unwrap_or(0))
            .find(|(frame, line)| *line > 0 && self.is_program(**frame))
            .map_or_else(CallSite::default, |(frame, line)| CallSite {
                frame: *frame,
                line,
            })
    }

    fn is_program(&mut self, frame: VALUE) -> bool {
        *self
            .frames
            .entry(frame)
            .or_insert_with(|| path(frame).is_some_and(|path| !path.starts_with(OWN_PATH)))
    }
}

/// The path of a frame's file. It lives as long as the frame.
fn path<'a>(frame: VALUE) -> Option<&'a [u8]> {
    // SAFETY: it is a frame that Ruby has named, and that is marked since.
    let path = unsafe { rb_profile_frame_path(frame) };
    if rb_sys::NIL_P(path) {
        return None;
    }
    // SAFETY: the path is a String, which Ruby does not change.
    unsafe {
        let bytes = RSTRING_PTR(path).cast::<u8>();
        Some(slice::from_raw_parts(
            bytes,
            usize::try_from(RSTRING_LEN(path)).unwrap_or(0),
        ))
    }
}
