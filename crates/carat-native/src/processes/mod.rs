//! The process, its memory, and its control socket, as far as Ruby does not offer them.

pub(crate) mod allocator;
pub(crate) mod collector;
pub(crate) mod control;
pub(crate) mod main_stack;
pub(crate) mod process;

pub(crate) use collector::{CollectionWatch, close_forgotten_files};
