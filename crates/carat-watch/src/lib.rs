//! The files of the application that have changed, and the part of the edge that loads them. The kernel's notices say when to
//! look; the files themselves decide.

mod file_state;
mod notices;
mod part;
mod snapshot;
mod source_files;
mod source_watch;

pub use part::part;
