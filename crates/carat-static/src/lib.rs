//! Finds the static file that a request asks for: only in the folders that are served, in the
//! coding that the client prefers, and without its content if the client has the file already. The
//! [`part()`] sends it.
//!
//! A lookup asks the kernel for what it has cached first, which never waits for a disk. When that does not suffice,
//! the same lookup is made once more on a thread that may wait.
//!
//! ```
//! use carat_static::{Access, UrlMount, Mounts};
//!
//! # fn main() -> std::io::Result<()> {
//! # let directory = tempfile::tempdir()?;
//! # std::fs::write(directory.path().join("robots.txt"), "User-agent: *\n")?;
//! let mounts = Mounts::new(vec![UrlMount::open("/", directory.path())?]);
//! let request = http::Request::get("/robots.txt").body(()).map_err(std::io::Error::other)?;
//! let (request, ()) = request.into_parts();
//! let query = mounts.query(&request).ok_or(std::io::ErrorKind::NotFound)?;
//! let response = query.run(Access::Any).ok().flatten().ok_or(std::io::ErrorKind::NotFound)?;
//! assert_eq!(response.headers()["content-type"], "text/plain");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod mount;
mod mounts;
mod named_file;
mod part;
mod query;
mod url_path;

mod disk {
    //! Folders, and the small files of them that are kept in memory.

    mod directory;
    mod recent_files;
    mod top_level;

    pub use directory::{Access, LookupError};
    pub(crate) use directory::{Directory, FoundFile};
    pub(crate) use top_level::TopLevel;
}

mod headers {
    //! The header fields of a response with a file, and whether the client has the file already.

    mod conditions;
    mod content;
    mod fingerprint;
    mod media_type;
    mod validators;

    pub(crate) use conditions::{Conditions, Verdict};
    pub use content::FileContent;
    pub(crate) use fingerprint::is_fingerprinted;
    pub(crate) use media_type::{is_compressible, media_type};
    pub(crate) use validators::Validators;
}

pub use disk::{Access, LookupError};
pub use headers::FileContent;
pub use mount::UrlMount;
pub use mounts::Mounts;
pub use named_file::NamedFile;
pub use part::part;
pub use query::FileQuery;
