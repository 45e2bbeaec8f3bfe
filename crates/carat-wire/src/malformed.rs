use std::fmt;

/// Why bytes are not the frame that they claim to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The payload ends before its last field.
    Truncated,
    /// The payload goes on after its last field.
    Overlong,
    /// The frame is longer than [`FRAME_LIMIT`](crate::FRAME_LIMIT) bytes.
    TooLarge(u32),
    /// No frame has this kind.
    UnknownKind(u8),
    /// A field has a value that is not defined.
    BadValue(&'static str),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Truncated => write!(f, "the frame ends before its last field"),
            Malformed::Overlong => write!(f, "the frame goes on after its last field"),
            Malformed::TooLarge(bytes) => write!(f, "a frame of {bytes} bytes is over the limit"),
            Malformed::UnknownKind(kind) => write!(f, "no frame has the kind {kind}"),
            Malformed::BadValue(field) => write!(f, "the field `{field}` has an undefined value"),
        }
    }
}

impl std::error::Error for Malformed {}
