//! The interpreter as every class here uses it: errors, Strings, waiting, the GVL, and objects that are kept.

pub(crate) mod error;
pub(crate) mod fork;
pub(crate) mod gvl;
pub(crate) mod io;
pub(crate) mod roots;
pub(crate) mod text;
pub(crate) mod waker;

pub(crate) use io::{Io, borrow, descriptor, owned, yield_to_others};
pub(crate) use roots::{Roots, roots};
pub(crate) use text::{bytes_of, is_string};
