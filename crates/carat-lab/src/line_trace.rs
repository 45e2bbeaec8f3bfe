//! `Carat::Lab::Ledger.trace_lines`: an account of the ledger for each line of Ruby that one thread runs.
//!
//! Ruby reports each line as it begins, but not that a line goes on when a call returns: a stack of callers knows.

use std::collections::HashMap;
use std::ffi::{c_long, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::rb_sys::FromRawValue;
use magnus::{Error, Object, RArray, RModule, Ruby, Value, function};
use rb_sys::{
    RUBY_EVENT_B_CALL, RUBY_EVENT_B_RETURN, RUBY_EVENT_CALL, RUBY_EVENT_LINE, RUBY_EVENT_RETURN,
    VALUE, rb_gc_register_mark_object, rb_num2int, rb_trace_arg_t, rb_tracearg_event_flag,
    rb_tracearg_from_tracepoint, rb_tracearg_lineno, rb_tracearg_path, rb_tracepoint_disable,
    rb_tracepoint_enable, rb_tracepoint_new, ruby_value_type,
};

use crate::recorder::{Recorder, recorder};
use crate::watched_thread::WatchedThread;

const CALLS: u32 = RUBY_EVENT_CALL | RUBY_EVENT_B_CALL;
const RETURNS: u32 = RUBY_EVENT_RETURN | RUBY_EVENT_B_RETURN;

static TRACE: OnceLock<LineTrace> = OnceLock::new();

struct LineTrace {
    tracepoint: VALUE,
    thread: WatchedThread,
    lines: Mutex<Lines>,
}

/// The accounts of lines, by the path of a file and the number of a line.
#[derive(Default)]
struct Lines {
    accounts: HashMap<VALUE, HashMap<c_long, u32>>,
    callers: Vec<u32>,
    current: u32,
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("trace_lines", function!(trace_lines, 0))?;
    ledger.define_singleton_method("stop_lines", function!(stop_lines, 0))?;
    ledger.define_singleton_method("lines", function!(lines, 0))
}

/// Begins to trace the thread that calls this, which must have called `start`.
fn trace_lines(_ruby: &Ruby) {
    let trace = TRACE.get_or_init(|| {
        let events = RUBY_EVENT_LINE | CALLS | RETURNS;
        // SAFETY: Ruby calls the function with the tracepoint, and the object is kept for good.
        let tracepoint = unsafe {
            let tracepoint = rb_tracepoint_new(0, events, Some(on_event), std::ptr::null_mut());
            rb_gc_register_mark_object(tracepoint);
            tracepoint
        };
        LineTrace {
            tracepoint,
            thread: WatchedThread::default(),
            lines: Mutex::default(),
        }
    });
    trace.thread.enter();
    *trace.lines() = Lines::default();
    // SAFETY: it is a tracepoint.
    unsafe { rb_tracepoint_enable(trace.tracepoint) };
}

/// The account of the line that runs. `None` while the trace itself works, or there is none.
pub(crate) fn current() -> Option<u32> {
    let lines = TRACE.get()?.lines.try_lock().ok()?;
    Some(lines.current)
}

/// Ends the trace.
fn stop_lines(_ruby: &Ruby) {
    if let Some(trace) = TRACE.get() {
        // SAFETY: it is a tracepoint.
        unsafe { rb_tracepoint_disable(trace.tracepoint) };
    }
}

/// Returns an Array for each line that has run: the number of its account, the path of the file, and the line.
fn lines(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    let Some(trace) = TRACE.get() else {
        return Ok(rows);
    };
    for (number, path, line) in trace.rows() {
        // SAFETY: it is a String, which is kept for good.
        rows.push((number, unsafe { Value::from_raw(path) }, line))?;
    }
    Ok(rows)
}

// SAFETY: only Ruby calls it, with a tracepoint and during an event.
unsafe extern "C" fn on_event(tracepoint: VALUE, _data: *mut c_void) {
    let (Some(trace), Some(recorder)) = (TRACE.get(), recorder()) else {
        return;
    };
    if !trace.thread.is_present() {
        return;
    }
    // SAFETY: Ruby calls this with a tracepoint, during an event.
    let (event, flag) = unsafe {
        let event = rb_tracearg_from_tracepoint(tracepoint);
        (event, rb_tracearg_event_flag(event))
    };
    if flag & CALLS != 0 {
        recorder.change(|_| trace.lines().call());
    } else if flag & RETURNS != 0 {
        recorder.change(|ledger| ledger.switch(trace.lines().give_back()));
    } else {
        // SAFETY: the event is one of a line, and has not ended.
        unsafe { trace.on_line(recorder, event) };
    }
}

impl LineTrace {
    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rows(&self) -> Vec<(u32, VALUE, c_long)> {
        let lines = self.lines();
        let files = lines.accounts.iter();
        files
            .flat_map(|(path, numbers)| {
                numbers.iter().map(|(line, number)| (*number, *path, *line))
            })
            .collect()
    }

    /// # Safety
    ///
    /// The event must be under way.
    // SAFETY: the caller's promise, above.
    unsafe fn on_line(&self, recorder: &Recorder, event: *mut rb_trace_arg_t) {
        // SAFETY: the caller guarantees it.
        let (path, line) = unsafe { (rb_tracearg_path(event), rb_tracearg_lineno(event)) };
        // SAFETY: any value has a type.
        if !unsafe { rb_sys::RB_TYPE_P(path, ruby_value_type::RUBY_T_STRING) } {
            return;
        }
        // SAFETY: the number of a line is a small Integer.
        let line = unsafe { rb_num2int(line) };
        if !self.lines().accounts.contains_key(&path) {
            // SAFETY: it is an object. From now on no other can have its address.
            unsafe { rb_gc_register_mark_object(path) };
        }
        recorder.change(|ledger| {
            let number = self.lines().begin(path, line, || ledger.add());
            ledger.switch(number);
        });
    }
}

impl Lines {
    /// Returns the account of a line that begins; `add` makes a new one.
    fn begin(&mut self, path: VALUE, line: c_long, add: impl FnOnce() -> u32) -> u32 {
        let numbers = self.accounts.entry(path).or_default();
        self.current = *numbers.entry(line).or_insert_with(add);
        self.current
    }

    fn call(&mut self) {
        self.callers.push(self.current);
    }

    /// Returns the account of the line that called. A call from before the trace has none: the line goes on.
    fn give_back(&mut self) -> u32 {
        self.current = self.callers.pop().unwrap_or(self.current);
        self.current
    }
}
