use std::sync::Arc;

use super::spool_quota::SpoolReservation;
use crate::slow_file::SlowFile;

/// An unlinked temporary file, with what it takes of `spool_limit` until it is closed.
pub(crate) type SpoolFile = SlowFile<SpoolReservation>;

/// A body in an unlinked temporary file, which exists as long as a descriptor of it is open.
#[derive(Debug)]
pub(crate) struct Spool(Arc<SpoolFile>);

impl Spool {
    /// A complete body in `file`.
    pub(crate) fn new(file: Arc<SpoolFile>) -> Spool {
        Spool(file)
    }

    /// The file, for a message that carries its descriptor.
    pub(crate) fn share_file(&self) -> Arc<SpoolFile> {
        Arc::clone(&self.0)
    }

    /// Bytes in the file.
    pub(crate) fn length(&self) -> u64 {
        self.0.held().bytes()
    }
}
