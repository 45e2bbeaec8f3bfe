//! Ruby's garbage collector, asked for the files that the application forgot to close.

use magnus::value::ReprValue;
use magnus::{Error, Ruby, Value};

/// Closes files that nothing refers to any more. Ruby code runs: finalizers.
pub(crate) fn close_forgotten_files(ruby: &Ruby) -> Result<(), Error> {
    // Unlike `rb_gc_start`, the method runs finalizers before it returns.
    ruby.module_gc().funcall::<_, _, Value>("start", ())?;
    Ok(())
}
