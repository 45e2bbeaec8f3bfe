use std::fmt;

use http::HeaderMap;

/// Where early hints for the client of one request go. Each version of HTTP has its own.
pub trait HintSink: fmt::Debug {
    /// Sends a 103 response with these fields (RFC 8297). The caller wakes the task that serves the request.
    fn send(&self, fields: &HeaderMap);
}
