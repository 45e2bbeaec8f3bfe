use std::fmt;

/// Why bytes are not a valid frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The payload ends before its last field.
    Truncated,
    /// The payload continues after its last field.
    Overlong,
    /// The frame is longer than [`FRAME_LIMIT`](crate::FRAME_LIMIT) bytes.
    TooLarge(u32),
    /// A frame has a kind that does not exist.
    UnknownKind(u8),
    /// A field has an undefined value.
    BadValue(&'static str),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Truncated => write!(f, "the frame ends before its last field"),
            Malformed::Overlong => write!(f, "the frame continues after its last field"),
            Malformed::TooLarge(bytes) => write!(f, "a frame of {bytes} bytes exceeds the limit"),
            Malformed::UnknownKind(kind) => write!(f, "the kind of frame {kind} does not exist"),
            Malformed::BadValue(field) => write!(f, "the field `{field}` has an undefined value"),
        }
    }
}

impl std::error::Error for Malformed {}
