//! What is sent back: a reply of the application, a refusal, interim responses.

mod hint_sink;
mod interim_responses;
mod outgoing_file;
mod refusal;
mod reply;
mod reply_body;
mod reply_stream;
mod stored_body;

pub(crate) use hint_sink::HintSink;
pub(crate) use interim_responses::InterimResponses;
pub use outgoing_file::{FilePlaceholder, OUTGOING_LIMIT, OutgoingFile};
pub use refusal::Refusal;
pub use reply::Reply;
pub use reply_body::{FileRange, ReplyBody, ReplyContent};
pub use reply_stream::{ReplySender, ReplySource, ReplyStream, reply_stream};
pub use stored_body::StoredBody;
