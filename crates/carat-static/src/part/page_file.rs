use std::io;
use std::path::Path;

use bytes::Bytes;

use carat_files::read_configured;

/// The largest page. It stays in memory.
pub(super) const PAGE_LIMIT: u64 = 256 * 1024;

/// The content of a page; `None` when there is none. An error when it is too large, or no regular file.
pub(super) fn read_page(path: &Path) -> io::Result<Option<Bytes>> {
    match read_configured(path, PAGE_LIMIT) {
        Ok(page) => Ok(Some(page.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
