//! Folders, and the small files of them that are kept in memory.

mod directory;
mod recent_files;
mod top_level;

pub use directory::{Access, LookupError};
pub(crate) use directory::{Directory, FoundFile};
pub(crate) use top_level::TopLevel;
