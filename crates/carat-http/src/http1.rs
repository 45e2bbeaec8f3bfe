use hyper::server::conn::http1;

use carat_settings::Settings;

/// The smallest buffer that hyper accepts.
const HYPER_BUFFER_MIN: usize = 8 * 1024;
/// How many headers hyper parses without an allocation.
const HYPER_INLINE_HEADERS: usize = 100;

/// hyper's settings for every connection.
pub(super) fn http1(settings: &Settings) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // The headers, which the guard passes at once, must fit, and so must a read.
    let buffer = settings.max_header_bytes.max(settings.body_buffer);
    builder
        .header_read_timeout(None)
        .max_buf_size(buffer.max(HYPER_BUFFER_MIN))
        // Trailers, too, which the guard has measured: by itself hyper ends a body with more than 16 KiB of them.
        .max_header_size(settings.max_header_bytes + 1);
    if settings.max_headers > HYPER_INLINE_HEADERS {
        builder.max_headers(settings.max_headers);
    }
    builder
}
