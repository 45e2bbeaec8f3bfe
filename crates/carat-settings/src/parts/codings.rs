use serde::Deserialize;

/// The compression of responses, and the decoding of requests.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct CodingSettings {
    /// Whether compressed bodies are decoded before the application sees them.
    pub decode_requests: bool,
    /// The bytes of a decoded body, at most.
    pub max_decoded_body: u64,
    /// The decoded bytes for each byte of an encoded body, at most.
    pub max_decode_ratio: u64,
    /// Whether responses are compressed for clients that accept it.
    pub compress: bool,
    /// The bytes of a response from which on it is compressed.
    pub compress_min_bytes: u64,
    /// The compression level of gzip.
    pub gzip_level: u32,
    /// The compression level of brotli.
    pub brotli_level: u32,
    /// The compression level of zstd.
    pub zstd_level: i32,
}
