use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use carat_wire::{Page, Word};

/// The recall on the page is refreshed after this many requests. Ids wrap around, so an old recall would
/// otherwise apply to new requests.
pub(crate) const RECALL_REFRESH: u32 = 1 << 24;

/// The edge's view of the page that it shares with the worker of a lane.
pub(crate) type SharedPage = Page<FileWord>;

/// A word of the page, in the file behind it.
#[derive(Debug)]
pub(crate) struct FileWord {
    file: Rc<File>,
    offset: u64,
}

impl Word for FileWord {
    type Error = io::Error;

    fn store(&self, id: u32) -> io::Result<()> {
        self.file.write_all_at(&id.to_le_bytes(), self.offset)
    }

    fn load(&self) -> io::Result<u32> {
        let mut id = [0; size_of::<u32>()];
        self.file.read_exact_at(&mut id, self.offset)?;
        Ok(u32::from_le_bytes(id))
    }
}

/// The page in `file`.
pub(crate) fn shared_page(file: File) -> SharedPage {
    let file = Rc::new(file);
    let word = |offset: usize| FileWord {
        file: Rc::clone(&file),
        offset: offset as u64,
    };
    Page::new(Page::OFFSETS.map(word))
}

/// A page that no worker shares.
#[cfg(any(test, feature = "fixture"))]
pub(crate) fn unshared_page() -> SharedPage {
    let file = rustix::fs::memfd_create("page", rustix::fs::MemfdFlags::CLOEXEC);
    let file = File::from(file.expect("a memfd"));
    file.set_len(Page::BYTES as u64).expect("room for the page");
    shared_page(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_does_not_begin_what_was_recalled() {
        let page = unshared_page();
        assert!(page.begin(1).expect("written"));
        assert_eq!(page.recall(3).expect("written"), 1);
        assert!(!page.begin(2).expect("written"));
        assert!(page.begin(4).expect("written"));
        assert_eq!(page.begun().expect("read"), 4);
    }
}
