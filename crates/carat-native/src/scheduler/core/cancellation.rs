//! The end of a scheduler: all waits end, and new ones are refused.

use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::value::ReprValue;
use magnus::{Error, Ruby, Value};
use rb_sys::{VALUE, rb_errinfo, rb_obj_id, rb_set_errinfo, rb_thread_current};

use super::{Core, NOBODY, current};
use crate::scheduler::error;

/// How many waits of one fiber are refused before it is abandoned. Its `ensure` blocks may try to wait, but a fiber that
/// rescues every exception and waits again would never end.
const REFUSALS_LIMIT: u32 = 1000;

impl Core {
    /// Ends all waits with an exception, also those that begin from now on, and runs the fibers to their ends.
    pub(crate) fn cancel(&self, ruby: &Ruby) -> Result<(), Error> {
        self.own(ruby)?;
        // SAFETY: this thread holds the GVL.
        let reason = unsafe { Value::from_raw(rb_errinfo()) };
        self.is_cancelled.set(true);
        self.state().cancel();
        let ended = self.run(ruby);
        if reason.is_kind_of(ruby.exception_exception()) {
            // Ruby asks for the exception that ended the thread after its scheduler has ended.
            // SAFETY: it is an exception, alive on this stack.
            unsafe { rb_set_errinfo(reason.as_raw()) };
        }
        ended
    }

    /// Ignores the exception that ended a fiber because its wait was refused. Fibers that other code started (tasks of
    /// the async gem) do not rescue this exception, and it must not end the loop.
    pub(super) fn outlive(&self, ruby: &Ruby, turn: Result<(), Error>) -> Result<(), Error> {
        match turn {
            Err(error) if self.is_cancelled.get() && error::is_cancelled(ruby, &error) => Ok(()),
            turn => turn,
        }
    }

    /// Refuses any thread but the first, and every wait of a scheduler that was cancelled.
    pub(crate) fn admit(&self, ruby: &Ruby) -> Result<(), Error> {
        self.own(ruby)?;
        if self.is_cancelled.get() {
            return self.refuse(ruby);
        }
        Ok(())
    }

    /// A scheduler belongs to the first thread that uses it.
    pub(super) fn own(&self, ruby: &Ruby) -> Result<(), Error> {
        // SAFETY: this thread holds the GVL.
        let thread = unsafe { rb_thread_current() };
        if self.owner.get() == NOBODY {
            self.owner.set(thread);
        }
        if self.owner.get() == thread {
            return Ok(());
        }
        Err(error::scheduler(
            ruby,
            "this scheduler belongs to another thread",
        ))
    }

    fn refuse(&self, ruby: &Ruby) -> Result<(), Error> {
        let (me, home) = (current(), self.home.get());
        // SAFETY: this is the fiber that runs. Asking for its id may collect garbage, so nothing is borrowed meanwhile.
        let id = unsafe { rb_obj_id(me) };
        let refusals = self.refusals.borrow_mut().count(id);
        if refusals == REFUSALS_LIMIT && home != NOBODY && home != me {
            warn_of(ruby, me)?;
            // Control does not return: nothing refers to this fiber any more, and it is collected as it stands.
            self.switch(me, home)?;
        }
        Err(error::cancelled(ruby))
    }
}

/// Warns where an abandoned fiber stands.
fn warn_of(ruby: &Ruby, fiber: VALUE) -> Result<(), Error> {
    // SAFETY: this is the fiber that runs.
    let fiber = unsafe { Value::from_raw(fiber) };
    let trace: Option<Vec<String>> = fiber.funcall("backtrace", ())?;
    let text = format!(
        "{} is abandoned: its scheduler has ended, and it has tried to wait {REFUSALS_LIMIT} times since, last at\n\t{}",
        fiber.inspect(),
        trace.unwrap_or_default().join("\n\t"),
    );
    ruby.module_kernel()
        .funcall::<_, _, Value>("warn", (text,))?;
    Ok(())
}
