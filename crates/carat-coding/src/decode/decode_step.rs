/// The bytes that one step of a decoder read and wrote.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeStep {
    /// Bytes read from the input.
    pub read: usize,
    /// Bytes written to the output.
    pub written: usize,
    /// Whether another step may produce output or read more, even without further input.
    pub more: bool,
}

/// Why a coded body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes do not match the coding, or more bytes follow its end.
    Corrupt,
    /// The body ended before its coding did.
    Truncated,
    /// The stream needs a larger window than [`crate::ZSTD_WINDOW_LIMIT`].
    WindowTooLarge,
    /// The decoded body exceeds [`crate::DecodeLimits::size`].
    TooLarge,
    /// The decoded body exceeds [`crate::DecodeLimits::ratio`], or a gzip body has more than
    /// [`crate::GZIP_MEMBERS_LIMIT`] members.
    TooDense,
}

impl DecodeError {
    /// The reason, as a sentence for the client.
    pub const fn reason(self) -> &'static str {
        match self {
            DecodeError::Corrupt => "the body does not match its content coding",
            DecodeError::Truncated => "the body ends before its content coding does",
            DecodeError::WindowTooLarge => "the content coding needs a window that is too large",
            DecodeError::TooLarge => "the decoded body is too large",
            DecodeError::TooDense => "the decoded body is too large for its coded size",
        }
    }
}
