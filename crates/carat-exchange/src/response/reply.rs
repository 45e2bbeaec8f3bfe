use std::time::Duration;

use http::Response;

use crate::body::SpoolReservation;
use crate::response::reply_body::ReplyBody;

/// The application's response to a call.
#[derive(Debug)]
pub struct Reply {
    /// Status, header fields, and body.
    pub response: Response<ReplyBody>,
    /// The part of `spool_limit` that the body takes until the client has it.
    pub spooled: SpoolReservation,
    /// How long the request waited for a worker.
    pub queue_time: Duration,
    /// How long the application took to begin its response.
    pub app_time: Duration,
}
