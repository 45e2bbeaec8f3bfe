//! The line of Ruby that runs.

use std::collections::HashMap;
use std::ffi::c_int;
use std::slice;

use rb_sys::macros::{RSTRING_LEN, RSTRING_PTR};
use rb_sys::{VALUE, rb_profile_frame_absolute_path, rb_profile_frame_path, rb_profile_frames};

/// The frames that are looked at: those of C, and of Ruby's own methods that are written in Ruby, have no line of
/// the program.
const FRAMES_LIMIT: usize = 16;
const OWN_PATH: &[u8] = b"<internal:";

/// A line: the path of a file, a String of Ruby, and a number. Both are 0 where no line runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct CallSite {
    pub(crate) path: VALUE,
    pub(crate) line: c_int,
}

/// Whose frame it is.
#[derive(Clone, Copy)]
enum Owner {
    /// C, or methods of Ruby's own.
    Ruby,
    Server,
    Lab,
    Program,
}

/// What runs.
pub(crate) enum Running {
    /// The measurement.
    Lab,
    /// The innermost line of the program; none where only the server runs.
    Program(CallSite),
}

/// Finds lines, and remembers the path of each frame that it has seen. Whoever has it marks them. Frames are not
/// remembered: each object with a module of its own has its own, which would keep its class.
#[derive(Default)]
pub(crate) struct CallSites {
    paths: HashMap<VALUE, Owner>,
    /// The directories of the server and of the lab, which may be inside of it. Their lines are not the program's.
    server: Vec<u8>,
    lab: Vec<u8>,
}

impl CallSites {
    pub(crate) fn outside(server: Vec<u8>, lab: Vec<u8>) -> CallSites {
        CallSites {
            paths: HashMap::new(),
            server,
            lab,
        }
    }

    /// The paths, for the collector.
    pub(crate) fn paths(&self) -> impl Iterator<Item = VALUE> + '_ {
        self.paths.keys().copied()
    }

    /// The line that the present thread runs. It must be a thread of Ruby. Nothing is allocated in Ruby's heap.
    pub(crate) fn current(&mut self) -> Running {
        let mut frames: [VALUE; FRAMES_LIMIT] = [0; FRAMES_LIMIT];
        let mut lines: [c_int; FRAMES_LIMIT] = [0; FRAMES_LIMIT];
        let limit = c_int::try_from(FRAMES_LIMIT).unwrap_or(0);
        // SAFETY: Ruby writes `limit` frames and lines at most.
        let count = unsafe { rb_profile_frames(0, limit, frames.as_mut_ptr(), lines.as_mut_ptr()) };
        let mut serves = false;
        let found = frames.into_iter().zip(lines);
        for (frame, line) in found.take(usize::try_from(count).unwrap_or(0)) {
            // SAFETY: it is a frame that Ruby has named. Its path is a String or nil, and lives as long as the frame.
            let path = unsafe { rb_profile_frame_path(frame) };
            match self.owner(path, frame) {
                Owner::Program if line > 0 => {
                    return Running::Program(CallSite { path, line });
                }
                Owner::Lab if !serves => return Running::Lab,
                Owner::Lab => break,
                Owner::Server => serves = true,
                Owner::Ruby | Owner::Program => {}
            }
        }
        Running::Program(CallSite::default())
    }

    fn owner(&mut self, path: VALUE, frame: VALUE) -> Owner {
        if let Some(known) = self.paths.get(&path) {
            return *known;
        }
        let owner = self.find_owner(path, frame);
        self.paths.insert(path, owner);
        owner
    }

    fn find_owner(&self, path: VALUE, frame: VALUE) -> Owner {
        // SAFETY: as for its path.
        let absolute = unsafe { rb_profile_frame_absolute_path(frame) };
        let Some(name) = bytes(path).filter(|name| !name.starts_with(OWN_PATH)) else {
            return Owner::Ruby;
        };
        let file = bytes(absolute).unwrap_or(name);
        let inside = |directory: &[u8]| !directory.is_empty() && file.starts_with(directory);
        if inside(&self.lab) {
            Owner::Lab
        } else if inside(&self.server) {
            Owner::Server
        } else {
            Owner::Program
        }
    }
}

/// The bytes of a String that Ruby does not change; `None` for nil.
fn bytes<'a>(string: VALUE) -> Option<&'a [u8]> {
    if rb_sys::NIL_P(string) {
        return None;
    }
    // SAFETY: the caller names a String that lives.
    unsafe {
        let bytes = RSTRING_PTR(string).cast::<u8>();
        let length = usize::try_from(RSTRING_LEN(string)).unwrap_or(0);
        Some(slice::from_raw_parts(bytes, length))
    }
}
