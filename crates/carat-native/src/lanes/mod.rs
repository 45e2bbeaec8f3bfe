//! The lanes of a worker, their slots, and what is read from and written to them.

pub(crate) mod callables;
pub(crate) mod inline_body;
pub(crate) mod input;
pub(crate) mod lane;
pub(crate) mod page;
pub(crate) mod reader_role;
pub(crate) mod respond;
pub(crate) mod response_head;
pub(crate) mod slot;
