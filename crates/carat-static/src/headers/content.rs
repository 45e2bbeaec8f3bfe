use std::fs::File;
use std::io::IoSliceMut;

use bytes::Bytes;
use rustix::io::{ReadWriteFlags, preadv2};

/// Files up to this size are read at once, if they are cached: then no descriptor is open while the
/// client reads.
const READ_LIMIT: u64 = 64 * 1024;

/// The content of a response.
pub enum FileContent {
    /// No content: a response to HEAD, or one without a body.
    Empty,
    /// The bytes themselves.
    Bytes(Bytes),
    /// A file, and how many of its first bytes are sent.
    File(File, u64),
}

impl FileContent {
    pub(crate) fn of(file: File, size: u64) -> FileContent {
        match usize::try_from(size).ok().filter(|_| size <= READ_LIMIT) {
            Some(length) => {
                read(&file, length).map_or(FileContent::File(file, size), FileContent::Bytes)
            }
            None => FileContent::File(file, size),
        }
    }
}

/// The first `length` bytes, if all of them are cached.
fn read(file: &File, length: usize) -> Option<Bytes> {
    let mut bytes = vec![0; length];
    let room = &mut [IoSliceMut::new(&mut bytes)];
    let count = preadv2(file, room, 0, ReadWriteFlags::NOWAIT).ok()?;
    (count == length).then(|| bytes.into())
}
