//! Chunk extensions (RFC 9112, section 7.1.1), which are checked and ignored.

use crate::byte_class::ByteClass;

/// The place in `;name`, `;name=token`, or `;name="quoted"` at which the next byte stands. White
/// space may stand around a name and a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkExtension {
    NameStart,
    Name,
    NameEnd,
    ValueStart,
    Value,
    Quoted,
    Escaped,
    ValueEnd,
}

impl ChunkExtension {
    /// The state after `byte`; `None` when the byte must not stand there.
    pub(crate) fn next(self, byte: u8) -> Option<Self> {
        let is_space = matches!(byte, b' ' | b'\t');
        let is_token = ByteClass::TOKEN.has(byte);
        match self {
            Self::NameStart if is_space => Some(Self::NameStart),
            Self::NameStart | Self::Name if is_token => Some(Self::Name),
            Self::Name | Self::NameEnd if is_space => Some(Self::NameEnd),
            Self::Name | Self::NameEnd if byte == b'=' => Some(Self::ValueStart),
            Self::ValueStart if is_space => Some(Self::ValueStart),
            Self::ValueStart if byte == b'"' => Some(Self::Quoted),
            Self::ValueStart | Self::Value if is_token => Some(Self::Value),
            Self::Value | Self::ValueEnd if is_space => Some(Self::ValueEnd),
            Self::Quoted if byte == b'"' => Some(Self::ValueEnd),
            Self::Quoted if byte == b'\\' => Some(Self::Escaped),
            Self::Quoted | Self::Escaped if ByteClass::TEXT.has(byte) => Some(Self::Quoted),
            _ if byte == b';' && self.may_end() => Some(Self::NameStart),
            _ => None,
        }
    }

    /// Whether the line may end here.
    pub(crate) fn may_end(self) -> bool {
        matches!(
            self,
            Self::Name | Self::NameEnd | Self::Value | Self::ValueEnd
        )
    }
}
