//! `Carat::Lab::Ledger.watch_stacks`: the native stacks of what one thread allocates and nobody frees.
//!
//! jemalloc calls hooks for each allocation and each `free`, in any build of it; without hooks they cost nothing. It does
//! not call them for what a hook itself allocates.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{size_of, transmute};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::{Error, Object, RArray, RModule, Ruby, function};

use crate::line_trace;
use crate::malloc::Mallctl;

// SAFETY: jemalloc calls such a function with the block and what the hook was installed with.
type OnAllocation = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize, *const usize);
// SAFETY: jemalloc calls such a function with the block and what the hook was installed with.
type OnFree = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, *const usize);
// SAFETY: as above.
type OnExpansion =
    unsafe extern "C" fn(*mut c_void, c_int, *mut c_void, usize, usize, usize, *const usize);
// SAFETY: the block must be one of the allocator.
type UsableSize = unsafe extern "C" fn(*mut c_void) -> usize;

/// The innermost frames of a stack that are kept.
const FRAMES_LIMIT: usize = 32;

/// Allocations that are watched at once; further ones are not noted.
const WATCHED_LIMIT: usize = 1_000_000;

static WATCH: OnceLock<Watch> = OnceLock::new();

struct Watch {
    thread: libc::pthread_t,
    usable_size: UsableSize,
    live: Mutex<Live>,
}

/// What has been allocated and not freed, by address.
#[derive(Default)]
struct Live {
    handle: usize,
    blocks: HashMap<usize, Block>,
}

struct Block {
    /// The account of the line of Ruby that was running.
    line: u32,
    bytes: usize,
    frames: Box<[usize]>,
}

/// As jemalloc's `hooks_t`.
#[repr(C)]
struct Hooks {
    alloc: OnAllocation,
    dalloc: OnFree,
    expand: Option<OnExpansion>,
    extra: *mut c_void,
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("watch_stacks", function!(watch_stacks, 0))?;
    ledger.define_singleton_method("stacks", function!(stacks, 0))
}

/// Begins to watch the thread that calls this. Returns false when the allocator has no hooks.
fn watch_stacks(_ruby: &Ruby) -> bool {
    let (Some(mallctl), Some(usable_size)) = (Mallctl::find(), usable_size()) else {
        return false;
    };
    let watch = WATCH.get_or_init(|| Watch {
        // SAFETY: it takes nothing.
        thread: unsafe { libc::pthread_self() },
        usable_size,
        live: Mutex::default(),
    });
    // The first stack loads a library, which allocates: not within a hook.
    drop(stack());
    let Some(handle) = install(&mallctl) else {
        return false;
    };
    watch.live().handle = handle;
    true
}

/// Ends the watch. Returns an Array for each block that nobody has freed: the account of its line, its bytes, and its
/// stack from the inside, each frame as the path of a library, an offset in it, and the name of a function or nil.
fn stacks(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    let (Some(watch), Some(mallctl)) = (WATCH.get(), Mallctl::find()) else {
        return Ok(rows);
    };
    remove(&mallctl, watch.live().handle);
    let blocks = std::mem::take(&mut watch.live().blocks);
    for block in blocks.into_values() {
        let frames = ruby.ary_new();
        for frame in block.frames.iter().filter_map(|address| describe(*address)) {
            frames.push(frame)?;
        }
        rows.push((block.line, block.bytes, frames))?;
    }
    Ok(rows)
}

fn install(mallctl: &Mallctl) -> Option<usize> {
    let mut hooks = Hooks {
        alloc: on_allocation,
        dalloc: on_free,
        expand: None,
        extra: null_mut(),
    };
    let mut handle = 0_usize;
    let mut length = size_of::<usize>();
    // SAFETY: jemalloc copies the hooks, and writes a pointer. The hooks are functions of this library, which stays.
    let status = unsafe {
        mallctl.call(
            c"experimental.hooks.install",
            (&raw mut handle).cast(),
            &raw mut length,
            (&raw mut hooks).cast(),
            size_of::<Hooks>(),
        )
    };
    (status == 0).then_some(handle)
}

fn remove(mallctl: &Mallctl, mut handle: usize) {
    let handle = (&raw mut handle).cast();
    // SAFETY: jemalloc reads the handle that it has given. Should it refuse, the hooks note more and nobody reads it.
    let _ = unsafe {
        mallctl.call(
            c"experimental.hooks.remove",
            null_mut(),
            null_mut(),
            handle,
            size_of::<usize>(),
        )
    };
}

fn usable_size() -> Option<UsableSize> {
    // SAFETY: the name ends with a zero byte, and the handle stands for the whole process.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc_usable_size".as_ptr()) };
    // SAFETY: a function of this name has this signature in each allocator.
    (!function.is_null()).then(|| unsafe { transmute::<*mut c_void, UsableSize>(function) })
}

// SAFETY: only jemalloc calls it, with a block that it has just allocated.
unsafe extern "C" fn on_allocation(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _raw: usize,
    _arguments: *const usize,
) {
    let Some(watch) = WATCH.get() else { return };
    // SAFETY: it takes nothing.
    if block.is_null() || unsafe { libc::pthread_self() } != watch.thread {
        return;
    }
    // Without a line, it is the measurement that allocates.
    let Some(line) = line_trace::current() else {
        return;
    };
    // SAFETY: jemalloc has just allocated the block.
    let bytes = unsafe { (watch.usable_size)(block) };
    let frames = stack();
    watch.note(
        block as usize,
        Block {
            line,
            bytes,
            frames,
        },
    );
}

// SAFETY: only jemalloc calls it; the block is not read.
unsafe extern "C" fn on_free(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _arguments: *const usize,
) {
    if let Some(watch) = WATCH.get() {
        watch.live().blocks.remove(&(block as usize));
    }
}

impl Watch {
    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, address: usize, block: Block) {
        let mut live = self.live();
        if live.blocks.len() < WATCHED_LIMIT {
            live.blocks.insert(address, block);
        }
    }
}

fn stack() -> Box<[usize]> {
    let mut frames = [null_mut::<c_void>(); FRAMES_LIMIT];
    let limit = c_int::try_from(FRAMES_LIMIT).unwrap_or(0);
    // SAFETY: glibc writes `limit` addresses at most.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), limit) };
    let frames = frames.iter().take(usize::try_from(count).unwrap_or(0));
    frames.map(|frame| *frame as usize).collect()
}

/// The library of an address, the offset in it, and the nearest function that the library exports.
fn describe(address: usize) -> Option<(String, usize, Option<String>)> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: null_mut(),
    };
    // SAFETY: it writes the structure; the texts stay as long as the library.
    let known = unsafe { libc::dladdr(address as *const c_void, &raw mut info) } != 0;
    let library = text(info.dli_fname).filter(|_| known)?;
    Some((
        library,
        address - info.dli_fbase as usize,
        text(info.dli_sname),
    ))
}

fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the loader gives a text that ends with a zero byte.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}
