use std::fmt;

/// Why a coded body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes are not what the coding says, or more of them follow its end.
    Corrupt,
    /// The body ended before its coding did.
    Truncated,
    /// The stream wants a larger window than [`crate::ZSTD_WINDOW_LIMIT`].
    WindowTooLarge,
    /// More bytes came out than [`crate::DecodeLimits::size`].
    TooLarge,
    /// More bytes came out for each that went in than [`crate::DecodeLimits::ratio`], or nothing at
    /// all out of more than [`crate::GZIP_MEMBERS_LIMIT`] members.
    TooDense,
}

impl DecodeError {
    /// The sentence that says so.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            DecodeError::Corrupt => "the bytes do not fit the content coding",
            DecodeError::Truncated => "the body ends before its content coding does",
            DecodeError::WindowTooLarge => "the content coding needs too large a window",
            DecodeError::TooLarge => "the decoded body is too large",
            DecodeError::TooDense => "the decoded body is too large for its coded size",
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.reason())
    }
}

impl std::error::Error for DecodeError {}
