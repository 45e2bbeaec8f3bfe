//! Finds the source files of the application that have changed, and has the changed code loaded, as
//! a part of the edge. The kernel's notices only say when to look: the content of the files
//! decides.

mod file_state;
mod notices;
mod part;
mod snapshot;
mod source_files;
mod source_watch;

pub use part::part;
