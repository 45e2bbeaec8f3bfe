use std::fs::File;
use std::sync::Arc;

use super::quota::Reservation;

/// A body in an unlinked temporary file: it is gone with its last descriptor.
#[derive(Debug)]
pub(crate) struct Spool {
    pub(super) file: Arc<File>,
    /// The bytes in the file, which count against `spool_limit` for as long as this lives.
    pub(super) reservation: Reservation,
}

impl Spool {
    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.reservation.bytes()
    }
}
