use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;

/// The largest page. It stays in memory.
pub(super) const PAGE_LIMIT: u64 = 256 * 1024;

/// The content of a page; `None` when there is none. An error when it is too large.
pub(super) fn read_page(path: &Path) -> io::Result<Option<Bytes>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    let mut page = Vec::new();
    file.take(PAGE_LIMIT + 1).read_to_end(&mut page)?;
    if page.len() as u64 > PAGE_LIMIT {
        return Err(io::Error::other("the page is larger than 256 KiB"));
    }
    Ok(Some(page.into()))
}
