//! Responses: a reply of the application, a refusal, interim responses.

mod interim_responses;
mod outgoing_file;
mod refusal;
mod reply;
mod reply_stream;

pub(crate) use interim_responses::{HintSink, InterimResponses};
pub use outgoing_file::{FilePlaceholder, OUTGOING_LIMIT, OutgoingFile};
pub use refusal::{Fault, PartRefusal, Refusal};
pub use reply::{FileRange, Reply, ReplyBody, ReplyContent, StoredBody};
pub use reply_stream::{ReplySender, ReplySource, ReplyStream, reply_stream};
