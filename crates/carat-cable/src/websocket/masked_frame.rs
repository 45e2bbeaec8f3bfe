use super::CloseCode;

pub(super) const CONTINUATION: u8 = 0x0;
pub(super) const TEXT: u8 = 0x1;
pub(super) const BINARY: u8 = 0x2;
pub(super) const CLOSE: u8 = 0x8;
pub(super) const PING: u8 = 0x9;
pub(super) const PONG: u8 = 0xA;

/// Marks the last frame of a message.
pub(super) const FIN: u8 = 0x80;
/// Marks the first frame of a message that is compressed (RFC 7692, section 6).
pub(super) const DEFLATED: u8 = 0x40;
/// Bits of other extensions, none of which is negotiated.
const RESERVED: u8 = 0x30;
/// In the second byte: the payload is masked.
const MASKED: u8 = 0x80;

/// The largest payload of a control frame, and of a frame whose length fits into its second byte.
pub(super) const SHORT_PAYLOAD_LIMIT: u8 = 125;

/// The part of a frame that is being read: its header, as far as that has arrived, and later the
/// rest of its payload.
#[derive(Debug)]
pub(super) struct MaskedFrame {
    /// Bytes of the payload that are to come; `u32::MAX` stands for more.
    pub(super) remaining: u32,
    /// The mask, turned so that its first byte belongs to the next byte of the payload.
    mask: [u8; 4],
    /// FIN, DEFLATED, and the opcode.
    first: u8,
    state: HeaderState,
}

/// The byte of a frame's header that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeaderState {
    First,
    Length,
    /// The next of the 2 or 8 bytes that have the length; `left` of them are missing.
    LongLength {
        left: u8,
        size: u8,
    },
    /// The next byte of the mask; `left` of them are missing.
    Mask {
        left: u8,
    },
    Complete,
}

impl MaskedFrame {
    pub(super) const NEW: MaskedFrame = MaskedFrame {
        remaining: 0,
        mask: [0; 4],
        first: 0,
        state: HeaderState::First,
    };

    pub(super) fn has_begun(&self) -> bool {
        self.state != HeaderState::First
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state == HeaderState::Complete
    }

    pub(super) fn opcode(&self) -> u8 {
        self.first & 0x0F
    }

    pub(super) fn is_final(&self) -> bool {
        self.first & FIN != 0
    }

    pub(super) fn is_deflated(&self) -> bool {
        self.first & DEFLATED != 0
    }

    pub(super) fn is_control(&self) -> bool {
        self.opcode() >= CLOSE
    }

    /// Whether the opcode or the length has just become known.
    pub(super) fn knows_more(&self) -> bool {
        matches!(
            self.state,
            HeaderState::Length | HeaderState::Mask { left: 4 }
        )
    }

    /// Takes the next byte.
    pub(super) fn push(&mut self, byte: u8) -> Result<(), CloseCode> {
        self.state = match self.state {
            HeaderState::First => self.push_first(byte)?,
            HeaderState::Length => self.push_length(byte)?,
            HeaderState::LongLength { left, size } => self.push_long_length(byte, left, size)?,
            HeaderState::Mask { left } => {
                self.mask[usize::from(4 - left)] = byte;
                match left {
                    1 => HeaderState::Complete,
                    _ => HeaderState::Mask { left: left - 1 },
                }
            }
            HeaderState::Complete => HeaderState::Complete,
        };
        Ok(())
    }

    fn push_first(&mut self, byte: u8) -> Result<HeaderState, CloseCode> {
        self.first = byte;
        let is_known = matches!(
            self.opcode(),
            CONTINUATION | TEXT | BINARY | CLOSE | PING | PONG
        );
        let is_whole = self.is_final() || !self.is_control();
        if byte & RESERVED != 0 || !is_known || !is_whole {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        Ok(HeaderState::Length)
    }

    fn push_length(&mut self, byte: u8) -> Result<HeaderState, CloseCode> {
        let length = byte & !MASKED;
        if byte & MASKED == 0 || self.is_control() && length > SHORT_PAYLOAD_LIMIT {
            return Err(CloseCode::PROTOCOL_ERROR);
        }
        let size = match length {
            126 => 2,
            127 => 8,
            _ => {
                self.remaining = length.into();
                return Ok(HeaderState::Mask { left: 4 });
            }
        };
        Ok(HeaderState::LongLength { left: size, size })
    }

    /// Takes a byte of the length. A length that would fit into fewer bytes is an error (RFC 6455,
    /// section 5.2).
    fn push_long_length(&mut self, byte: u8, left: u8, size: u8) -> Result<HeaderState, CloseCode> {
        self.remaining = match self.remaining {
            ..0x100_0000 => self.remaining << 8 | u32::from(byte),
            _ => u32::MAX,
        };
        match (left, size, self.remaining) {
            (1, 2, ..126) | (1, 8, ..0x1_0000) => Err(CloseCode::PROTOCOL_ERROR),
            (1, ..) => Ok(HeaderState::Mask { left: 4 }),
            _ => Ok(HeaderState::LongLength {
                left: left - 1,
                size,
            }),
        }
    }

    /// Takes the mask off the next bytes of the payload, at most `remaining`.
    pub(super) fn unmask(&mut self, payload: &mut [u8]) {
        self.remaining = self
            .remaining
            .saturating_sub(u32::try_from(payload.len()).unwrap_or(u32::MAX));
        let mut words = payload.chunks_exact_mut(4);
        for word in &mut words {
            for (byte, mask) in word.iter_mut().zip(self.mask) {
                *byte ^= mask;
            }
        }
        let rest = words.into_remainder();
        for (byte, mask) in rest.iter_mut().zip(self.mask) {
            *byte ^= mask;
        }
        self.mask.rotate_left(rest.len());
    }
}
