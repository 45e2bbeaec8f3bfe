//! Bodies of requests: in memory, in a file, or still arriving.

mod body_stream;
mod inline_bytes;
mod spool;
mod spool_quota;

pub use body_stream::{BodyReaders, BodySender, BodySink, BodyStream, body_stream};
pub use inline_bytes::InlineBytes;
pub use spool::{Spool, SpoolFile};
pub use spool_quota::{SpoolQuota, SpoolReservation};
