use std::fs::File;
use std::os::unix::fs::FileExt;

use carat_wire::{Page, is_behind};

/// A worker's side of the page that it shares with the edge. The two steps of `Page::begin` are apart, so that the edge
/// can act between them.
#[derive(Debug)]
pub(crate) struct WorkerPage(pub(crate) File);

impl WorkerPage {
    /// Notes on the page that request `id` begins.
    pub(crate) fn begin(&self, id: u32) {
        let written = self
            .0
            .write_all_at(&id.to_le_bytes(), Page::OFFSETS[0] as u64);
        written.expect("a page in memory");
    }

    /// Notes on the page whether the thread runs on after a response.
    pub(crate) fn linger(&self, lingers: bool) {
        let word = u32::from(lingers).to_le_bytes();
        let written = self.0.write_all_at(&word, Page::OFFSETS[2] as u64);
        written.expect("a page in memory");
    }

    /// Whether request `id`, which has just begun, was not recalled.
    pub(crate) fn may_run(&self, id: u32) -> bool {
        let mut recalled = [0; size_of::<u32>()];
        let read = self.0.read_exact_at(&mut recalled, Page::OFFSETS[1] as u64);
        read.expect("a page in memory");
        is_behind(id, u32::from_le_bytes(recalled))
    }
}
