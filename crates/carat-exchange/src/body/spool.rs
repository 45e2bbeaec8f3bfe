use std::sync::Arc;

use crate::body::spool_quota::SpoolReservation;
use carat_files::SlowFile;

/// An unlinked temporary file, with its share of `spool_limit` until it is closed.
pub type SpoolFile = SlowFile<SpoolReservation>;

/// A body in an unlinked temporary file, which exists as long as a descriptor of it is open.
#[derive(Debug)]
pub struct Spool(Arc<SpoolFile>);

impl Spool {
    /// A complete body in `file`.
    pub fn new(file: Arc<SpoolFile>) -> Spool {
        Spool(file)
    }

    /// The file, for a message that carries its descriptor.
    pub fn share_file(&self) -> Arc<SpoolFile> {
        Arc::clone(&self.0)
    }

    /// Bytes in the file.
    pub fn length(&self) -> u64 {
        self.0.held().bytes()
    }
}
