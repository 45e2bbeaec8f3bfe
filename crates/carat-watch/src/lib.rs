//! Which files of the application have changed. The kernel's notices say when to look; the files themselves decide.

mod file_state;
mod notices;
mod snapshot;
mod source_files;
mod source_watch;

pub use source_files::SourceFiles;
pub use source_watch::{SourceWatch, WatchRemark};
