/// Limits on the headers of a message, and on the trailers of a chunked body.
///
/// HTTP/1 checks the limits in `http1` (`head.rs` bytes, `fields.rs` fields, `request_line.rs` the
/// target, `chunked.rs` trailers), with errors of `error.rs`; hyper's limits (`http1` in
/// `carat-http`'s `server.rs`) must not be lower. Another protocol counts as its frames allow.
#[derive(Clone, Copy)]
pub struct HeaderLimits {
    /// Bytes of the request line and the header section, blank line included; 431 when exceeded.
    pub max_header_bytes: usize,
    /// Number of header fields; 431 when exceeded.
    pub max_headers: usize,
    /// Bytes of the request target; 414 when exceeded.
    pub max_uri: usize,
}
