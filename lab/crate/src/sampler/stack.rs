//! The stack of the running thread: frames of Ruby, and the functions of C that the innermost of them calls.
//!
//! Functions of C end at Ruby's interpreter. It has no symbols, so [`learn`] finds out at which addresses its functions
//! begin: it looks at the stack between two functions of this library, with the interpreter between them.

use std::ffi::{c_int, c_void};
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use magnus::{Error, Ruby, Value};
use rb_sys::{VALUE, rb_during_gc, rb_profile_frames, ruby_native_thread_p};

use super::call_tree::Function;
use crate::libraries::range;
use crate::malloc::Mallctl;

/// The innermost frames of Ruby that are kept.
const RUBY_LIMIT: usize = 512;
/// The innermost functions of C that are kept.
const NATIVE_LIMIT: usize = 96;
/// Functions of the interpreter on the way from C to C.
const INTERPRETER_LIMIT: usize = 32;

static KNOWN: OnceLock<Known> = OnceLock::new();

/// What a stack is cut at.
struct Known {
    /// Where the functions of the interpreter begin.
    interpreter: Vec<usize>,
    /// The addresses of the allocator, and those of this library.
    own: [Range<usize>; 2],
}

/// A captured stack.
pub(crate) struct CallStack {
    ruby: [VALUE; RUBY_LIMIT],
    lines: [c_int; RUBY_LIMIT],
    ruby_count: usize,
    native: [usize; NATIVE_LIMIT],
    native_count: usize,
    is_collector: bool,
}

#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

// SAFETY: the unwinder calls such a function with a frame, and the pointer that it was given.
type Visit = unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int;

// The unwinder that Rust itself uses.
// SAFETY: the signatures are those of `unwind.h`.
unsafe extern "C" {
    #[link_name = "_Unwind_Backtrace"]
    fn unwind_backtrace(visit: Visit, data: *mut c_void) -> c_int;
    #[link_name = "_Unwind_GetIP"]
    fn unwind_address(context: *mut Context) -> usize;
    #[link_name = "_Unwind_GetRegionStart"]
    fn unwind_function(context: *mut Context) -> usize;
    #[link_name = "_Unwind_FindEnclosingFunction"]
    fn unwind_enclosing(address: *mut c_void) -> *mut c_void;
}

/// Go on, or stop without an error.
const CONTINUE: c_int = 0;
const STOP: c_int = 4;

/// Learns what stacks are cut at. Call it before the first stack, outside of any hook: it loads a library.
pub(crate) fn learn(ruby: &Ruby, mallctl: Option<&Mallctl>) -> Result<(), Error> {
    if KNOWN.get().is_none() {
        let allocator = mallctl.map_or(0..0, |mallctl| range(mallctl.address()));
        let own = [allocator, range(look as *const () as usize)];
        let _: Value = ruby.eval("module Carat; Lab::Sampler.look; end")?;
        let interpreter = LOOKED
            .get()
            .map_or_else(Vec::new, |functions| between(functions, &own[1]).to_vec());
        KNOWN.get_or_init(|| Known { interpreter, own });
    }
    Ok(())
}

static LOOKED: OnceLock<Vec<usize>> = OnceLock::new();

/// Notes the stack that leads to itself.
pub(crate) fn look() {
    let mut functions = Vec::new();
    unwind(|_, function| {
        functions.push(function);
        ControlFlow::Continue(())
    });
    LOOKED.get_or_init(|| functions);
}

/// The functions from the end of the first run of functions in the library to the second.
fn between<'a>(functions: &'a [usize], library: &Range<usize>) -> &'a [usize] {
    let is_own = |function: &usize| library.contains(function);
    let first = functions.iter().position(is_own).unwrap_or(0);
    let functions = &functions[first..];
    let begin = functions.iter().position(|function| !is_own(function));
    let functions = &functions[begin.unwrap_or(functions.len())..];
    let end = functions.iter().position(is_own);
    &functions[..end.unwrap_or(0).min(INTERPRETER_LIMIT)]
}

/// Reads frames as `rb_profile_frames` does: the first argument is where to begin, the second the length of the arrays.
pub(crate) type ReadFrames<'a> = &'a dyn Fn(c_int, c_int, *mut VALUE, *mut c_int) -> c_int;

impl CallStack {
    /// A stack without frames.
    pub(crate) const NONE: CallStack = CallStack {
        ruby: [0; RUBY_LIMIT],
        lines: [0; RUBY_LIMIT],
        ruby_count: 0,
        native: [0; NATIVE_LIMIT],
        native_count: 0,
        is_collector: false,
    };

    /// That of the collector.
    pub(crate) const COLLECTOR: CallStack = CallStack {
        is_collector: true,
        ..CallStack::NONE
    };

    pub(crate) fn capture() -> CallStack {
        let mut stack = CallStack::NONE;
        stack.unwind(0);
        stack
    }

    /// Only the frames of Ruby.
    pub(crate) fn capture_ruby() -> CallStack {
        let mut stack = CallStack::capture();
        stack.native_count = 0;
        stack
    }

    /// Captures the stack that a signal has interrupted; its handler calls this. Nothing is allocated, and no lock taken.
    pub(crate) fn capture_interrupted(&mut self) {
        // The handler returns to a function of the C library, which the kernel has put between.
        self.unwind(1);
    }

    /// The frames of Ruby that a function reads.
    pub(crate) fn of(read: ReadFrames) -> CallStack {
        let mut stack = CallStack::NONE;
        stack.read_ruby(read);
        stack
    }

    /// The frames, for the collector.
    pub(crate) fn frames(&self) -> &[VALUE] {
        &self.ruby[..self.ruby_count]
    }

    /// Captures this thread's, without the innermost functions of C: so many.
    fn unwind(&mut self, skipped: usize) {
        (self.ruby_count, self.native_count) = (0, 0);
        // SAFETY: any thread may ask both.
        let is_of_ruby = self.runs_ruby(skipped) && unsafe { ruby_native_thread_p() } != 0;
        // SAFETY: as above.
        self.is_collector = is_of_ruby && unsafe { rb_during_gc() } != 0;
        // The collector may move what the frames name.
        if is_of_ruby && !self.is_collector {
            // SAFETY: the thread runs Ruby, and the arrays have this length.
            self.read_ruby(&|start, limit, frames, lines| unsafe {
                rb_profile_frames(start, limit, frames, lines)
            });
        }
    }

    /// The functions from the outermost to the innermost.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Function> {
        let root = match (self.is_collector, self.ruby_count) {
            (true, _) => Some(Function::Collector),
            (false, 0) => Some(Function::NoRuby),
            (false, _) => None,
        };
        let frames = self.ruby.iter().zip(&self.lines).take(self.ruby_count);
        let frames: Vec<_> = frames
            .map(|(frame, line)| Function::Ruby(*frame, *line))
            .collect();
        let native = self.native[..self.native_count].iter().rev();
        root.into_iter()
            .chain(frames.into_iter().rev())
            .chain(native.map(|address| Function::Native(*address)))
    }

    /// Captures the functions of C, and returns whether Ruby's interpreter called them. A thread that begins or ends
    /// belongs to Ruby, but its frames cannot be read: its stack ends without an interpreter. A stack that ends in the
    /// middle does so at code of a JIT compiler.
    fn runs_ruby(&mut self, mut skipped: usize) -> bool {
        let Some(known) = KNOWN.get() else {
            return false;
        };
        let mut is_found = false;
        let (mut last, mut last_function) = (0, 0);
        unwind(|address, function| {
            last = address;
            let is_repeated = function == last_function;
            last_function = function;
            // At code of a JIT compiler, the unwinder repeats what it said before.
            if is_repeated && enclosing(address) != function {
                return ControlFlow::Continue(());
            }
            is_found = known.interpreter.contains(&function);
            if is_found || self.native_count == NATIVE_LIMIT {
                return ControlFlow::Break(());
            }
            let is_own = known.own.iter().any(|own| own.contains(&function));
            if address == 0 || is_own {
                return ControlFlow::Continue(());
            }
            if skipped > 0 {
                skipped -= 1;
            } else {
                self.native[self.native_count] = function;
                self.native_count += 1;
            }
            ControlFlow::Continue(())
        });
        is_found || last != 0
    }

    fn read_ruby(&mut self, read: ReadFrames) {
        let limit = c_int::try_from(RUBY_LIMIT).unwrap_or(0);
        let count = read(0, limit, self.ruby.as_mut_ptr(), self.lines.as_mut_ptr());
        self.ruby_count = usize::try_from(count).unwrap_or(0);
    }
}

/// Where the function begins that an address is in; 0 for code that belongs to no library.
fn enclosing(address: usize) -> usize {
    // SAFETY: the unwinder only compares the address.
    unsafe { unwind_enclosing(address as *mut c_void) as usize }
}

/// Calls the function with the address that runs in each frame and the one at which its function begins, from the inside.
fn unwind<F: FnMut(usize, usize) -> ControlFlow<()>>(mut visit: F) {
    // SAFETY: the unwinder calls the function with this pointer, before it returns.
    let _ = unsafe { unwind_backtrace(on_frame::<F>, (&raw mut visit).cast()) };
}

// SAFETY: only the unwinder calls it, with the pointer that `unwind` passes.
unsafe extern "C" fn on_frame<F: FnMut(usize, usize) -> ControlFlow<()>>(
    context: *mut Context,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the unwinder passes a frame, and the pointer of `unwind`, of the same type.
    let (address, function, visit) = unsafe {
        let address = unwind_address(context);
        let function = unwind_function(context);
        (address, function, &mut *data.cast::<F>())
    };
    match visit(address, function) {
        ControlFlow::Continue(()) => CONTINUE,
        ControlFlow::Break(()) => STOP,
    }
}
