/// Limits on the headers of a message, and on the trailers of a chunked body.
#[derive(Clone, Copy, Debug)]
pub struct HeaderLimits {
    /// Bytes of the request line and the header section, blank line included; 431 when exceeded.
    pub max_header_bytes: usize,
    /// Number of header fields; 431 when exceeded.
    pub max_headers: usize,
    /// Bytes of the request target; 414 when exceeded.
    pub max_uri: usize,
}
