use std::fs::File;
use std::sync::Arc;

use super::spool_quota::SpoolReservation;

/// A body in an unlinked temporary file, which exists as long as a descriptor of it is open.
#[derive(Debug)]
pub(crate) struct Spool {
    file: Arc<File>,
    /// The bytes in the file, which count against `spool_limit` as long as this lives.
    reservation: SpoolReservation,
}

impl Spool {
    /// A complete body in `file`.
    pub(crate) fn new(file: Arc<File>, reservation: SpoolReservation) -> Spool {
        Spool { file, reservation }
    }

    /// The file, for a message that carries its descriptor.
    pub(crate) fn share_file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.reservation.bytes()
    }
}
