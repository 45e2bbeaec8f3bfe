//! The hooks that move bytes: `io_read`, `io_write`, `io_pread` and `io_pwrite`.
//!
//! Each attempt uses `RWF_NOWAIT`, which never blocks, however the descriptor was opened, and changes no state that
//! other processes share. Only file pages that are not in memory, for which there is no readiness, are read or written
//! piece by piece without the GVL.

use std::ptr;

use carat_fibers::{WaitOutcome, WaitRequest};
use magnus::rb_sys::{AsRawValue, protect};
use magnus::scan_args::scan_args;
use magnus::{Error, Module, RClass, Ruby, Value, method};
use rb_sys::{
    rb_io_buffer_get_bytes_for_reading, rb_io_buffer_get_bytes_for_writing, rb_io_buffer_lock,
    rb_io_buffer_unlock,
};
use rustix::io::{Errno, ReadWriteFlags};

use super::core::check_interrupts;
use super::error;
use super::readiness::own_timeout;
use super::span::{Direction, File, HERE, Span, is_file, ready_call};
use super::{Scheduler, limit};
use crate::interpreter::descriptor;
use crate::interpreter::gvl::{self, Callback};

/// The largest number of bytes that one system call moves. It bounds how long other fibers wait for a disk.
const PIECE_LIMIT: usize = 1024 * 1024;

/// The version of `IO::Buffer` from which on (Ruby 4.1) a hook gets the offset before the length, and the length is the
/// most that one operation may move. Ruby 3.1 to 4.0 have no version.
const OFFSETS_FIRST: u32 = 3;

/// No limit of bytes.
const ALL: usize = usize::MAX;

/// A call of a hook.
struct Job {
    io: Value,
    buffer: Value,
    direction: Direction,
    /// The fewest bytes to move, unless there are no more; 0 for a single attempt.
    minimum: usize,
    /// The most bytes to move, in a single attempt; `ALL` for any number of attempts.
    maximum: usize,
    /// The offset in the buffer.
    offset: usize,
    /// The offset in the file.
    from: u64,
}

/// Defines the methods. `io_pwrite` is defined only for Rubies that call it with the GVL.
pub(crate) fn define(ruby: &Ruby, class: RClass) -> Result<(), Error> {
    class.define_method("io_read_once", method!(Scheduler::io_read_once, -1))?;
    class.define_method("io_write_once", method!(Scheduler::io_write_once, -1))?;
    class.define_method("io_pread_once", method!(Scheduler::io_pread_once, -1))?;
    let buffer: RClass = ruby.class_io().const_get("Buffer")?;
    let buffer_version: u32 = buffer.const_get("VERSION").unwrap_or(0);
    if buffer_version >= OFFSETS_FIRST {
        class.define_alias("io_read", "io_read_once")?;
        class.define_alias("io_write", "io_write_once")?;
        return class.define_alias("io_pread", "io_pread_once");
    }
    class.define_method("io_read", method!(Scheduler::io_read, -1))?;
    class.define_method("io_write", method!(Scheduler::io_write, -1))?;
    class.define_method("io_pread", method!(Scheduler::io_pread, -1))?;
    // Ruby 3.3 calls the hook of IO#pwrite without the GVL (io.c: internal_pwrite_func), which is a deadlock. Without
    // the hook it writes correctly by itself.
    let version: String = ruby.class_object().const_get("RUBY_VERSION")?;
    if version.as_str() < "3.3" {
        class.define_method("io_pwrite", method!(Scheduler::io_pwrite, -1))?;
    }
    Ok(())
}

impl Scheduler {
    fn io_read(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        Job::here(args, Direction::Read)?.run(ruby, scheduler)
    }

    fn io_write(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        Job::here(args, Direction::Write)?.run(ruby, scheduler)
    }

    fn io_read_once(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        Job::once(args, Direction::Read)?.run(ruby, scheduler)
    }

    fn io_write_once(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        Job::once(args, Direction::Write)?.run(ruby, scheduler)
    }

    fn io_pread_once(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        let all = scan_args::<(Value, Value, i64, Value, Value), (), (), (), (), ()>(args)?;
        let (io, buffer, from, offset, length) = all.required;
        let job = Job::once(&[io, buffer, offset, length], Direction::Read)?;
        let from = place(ruby, from)?;
        Job { from, ..job }.run(ruby, scheduler)
    }

    fn io_pread(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        Job::at_place(ruby, args, Direction::Read)?.run(ruby, scheduler)
    }

    fn io_pwrite(ruby: &Ruby, scheduler: &Scheduler, args: &[Value]) -> Result<i64, Error> {
        Job::at_place(ruby, args, Direction::Write)?.run(ruby, scheduler)
    }
}

impl Job {
    /// `(io, buffer, length)` in Ruby 3.1, `(io, buffer, length, offset)` later.
    fn here(args: &[Value], direction: Direction) -> Result<Job, Error> {
        let args = scan_args::<(Value, Value, usize), (Option<usize>,), (), (), (), ()>(args)?;
        let (io, buffer, minimum) = args.required;
        Ok(Job {
            io,
            buffer,
            direction,
            minimum,
            maximum: ALL,
            offset: args.optional.0.unwrap_or(0),
            from: HERE,
        })
    }

    /// `(io, buffer, offset, length)`: one attempt, which moves `length` bytes at most.
    fn once(args: &[Value], direction: Direction) -> Result<Job, Error> {
        let args = scan_args::<(Value, Value, usize, usize), (), (), (), (), ()>(args)?;
        let (io, buffer, offset, maximum) = args.required;
        Ok(Job {
            io,
            buffer,
            direction,
            minimum: 0,
            maximum,
            offset,
            from: HERE,
        })
    }

    /// `(io, buffer, length, from)` in Ruby 3.1, `(io, buffer, from, length, offset)` later.
    fn at_place(ruby: &Ruby, args: &[Value], direction: Direction) -> Result<Job, Error> {
        let args = scan_args::<(Value, Value, i64, i64), (Option<usize>,), (), (), (), ()>(args)?;
        let (io, buffer, third, fourth) = args.required;
        let (from, length) = match args.optional.0 {
            Some(_) => (third, fourth),
            None => (fourth, third),
        };
        Ok(Job {
            io,
            buffer,
            direction,
            minimum: usize::try_from(length).unwrap_or(usize::MAX),
            maximum: ALL,
            offset: args.optional.0.unwrap_or(0),
            from: place(ruby, from)?,
        })
    }

    /// Returns the number of bytes that were moved, or the negative errno if there were none.
    fn run(&self, ruby: &Ruby, scheduler: &Scheduler) -> Result<i64, Error> {
        let mut moved = 0;
        loop {
            let span = self.span(moved)?;
            let asked = span.size.min(PIECE_LIMIT);
            if asked == 0 {
                return Ok(result(moved, None));
            }
            match self.attempt(ruby, scheduler, span, moved)? {
                Ok(0) => return Ok(result(moved, None)),
                Ok(bytes) => {
                    moved += bytes;
                    let is_cut_short =
                        self.maximum == ALL && bytes == PIECE_LIMIT && span.size > PIECE_LIMIT;
                    if moved >= self.minimum && !is_cut_short {
                        return Ok(result(moved, None));
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if moved < self.minimum => self.wait(ruby, scheduler)?,
                Err(errno) => return Ok(result(moved, Some(errno))),
            }
        }
    }

    /// Moves bytes without waiting, except bytes of files.
    fn attempt(
        &self,
        ruby: &Ruby,
        scheduler: &Scheduler,
        span: Span,
        moved: usize,
    ) -> Result<Result<usize, Errno>, Error> {
        let file = File {
            number: descriptor(self.io)?,
            direction: self.direction,
            from: match self.from {
                HERE => HERE,
                from => from + moved as u64,
            },
        };
        let span = span.cut(PIECE_LIMIT);
        match span.call(file, ReadWriteFlags::NOWAIT) {
            // A descriptor that epoll accepts is no file: knowing that saves a system call for each wait.
            Err(Errno::AGAIN) if !scheduler.core.state().watches(file.number) && is_file(file) => {
                self.disk(ruby, scheduler, span, file)
            }
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                if is_file(file) {
                    return self.disk(ruby, scheduler, span, file);
                }
                Ok(ready_call(span, file))
            }
            done => Ok(done),
        }
    }

    /// Reads or writes a piece of a file while other threads run, and then lets other fibers run.
    fn disk(
        &self,
        ruby: &Ruby,
        scheduler: &Scheduler,
        span: Span,
        file: File,
    ) -> Result<Result<usize, Errno>, Error> {
        let buffer = self.buffer.as_raw();
        // SAFETY: the buffer is live. Ruby has locked it already, unless the application called the hook.
        let is_ours = protect(|| unsafe { rb_io_buffer_lock(buffer) }).is_ok();
        let done = gvl::leave(&Callback::Signal, move || {
            span.call(file, ReadWriteFlags::empty())
        });
        if is_ours {
            // SAFETY: it was locked above.
            protect(|| unsafe { rb_io_buffer_unlock(buffer) })?;
        }
        if done.is_none() {
            check_interrupts()?;
        }
        let pause = WaitRequest {
            is_yield: true,
            ..WaitRequest::default()
        };
        scheduler.core.wait(ruby, &pause)?;
        Ok(done.unwrap_or(Err(Errno::INTR)))
    }

    /// Waits until the descriptor is ready.
    fn wait(&self, ruby: &Ruby, scheduler: &Scheduler) -> Result<(), Error> {
        let events = match self.direction {
            Direction::Read => 1,
            Direction::Write => 4,
        };
        let request = WaitRequest {
            limit: limit(own_timeout(ruby, self.io)?)?,
            descriptors: &[(descriptor(self.io)?, events)],
            ..WaitRequest::default()
        };
        match scheduler.core.wait(ruby, &request)? {
            WaitOutcome::TimedOut => Err(error::io_timeout(ruby)),
            _ => Ok(()),
        }
    }

    /// The memory from `offset + moved` on. It may change during a wait, so it is read again after each.
    fn span(&self, moved: usize) -> Result<Span, Error> {
        let (mut base, mut size) = (ptr::null_mut(), 0);
        let buffer = self.buffer.as_raw();
        protect(|| {
            // SAFETY: `buffer` is live, and `protect` catches what is raised.
            unsafe {
                match self.direction {
                    Direction::Read => {
                        rb_io_buffer_get_bytes_for_writing(buffer, &raw mut base, &raw mut size);
                    }
                    Direction::Write => {
                        let mut constant = ptr::null();
                        rb_io_buffer_get_bytes_for_reading(
                            buffer,
                            &raw mut constant,
                            &raw mut size,
                        );
                        base = constant.cast_mut();
                    }
                }
            }
            rb_sys::Qnil.into()
        })?;
        let size = usize::try_from(size).unwrap_or(0);
        let skipped = size.min(self.offset.saturating_add(moved));
        Ok(Span {
            base: base.cast::<u8>().wrapping_add(skipped),
            size: (size - skipped).min(self.maximum),
        })
    }
}

/// The offset in a file.
fn place(ruby: &Ruby, from: i64) -> Result<u64, Error> {
    u64::try_from(from).map_err(|_| error::system_call(ruby, Errno::INVAL))
}

/// The result that Ruby expects: an error only if no byte was moved; otherwise the next call meets the error again.
fn result(moved: usize, errno: Option<Errno>) -> i64 {
    match errno {
        Some(errno) if moved == 0 => -i64::from(errno.raw_os_error()),
        _ => i64::try_from(moved).unwrap_or(i64::MAX),
    }
}
