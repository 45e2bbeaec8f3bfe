//! Finds the frames of HTTP/2 in the bytes of one direction of a connection (RFC 9113, section
//! 4.1).

const HEADER_BYTES: usize = 9;

/// The header of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// Bytes of the payload.
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// 0 for the connection.
    pub(crate) stream: u32,
}

impl FrameHeader {
    pub(crate) fn of(bytes: [u8; HEADER_BYTES]) -> FrameHeader {
        let [high, middle, low, kind, flags, stream @ ..] = bytes;
        FrameHeader {
            length: usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low),
            kind,
            flags,
            stream: u32::from_be_bytes(stream) & !(1 << 31),
        }
    }
}

/// The part of the frames that comes next in one direction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FramePart<'a> {
    /// A frame begins.
    Header(FrameHeader),
    /// Bytes of the payload of the last frame, or of the preface.
    Payload(&'a [u8]),
}

/// Finds the frames, however their bytes are cut. It copies 9 bytes a frame and allocates nothing.
pub(crate) struct FrameParts {
    /// Bytes of the preface or of a payload that are still to come.
    left: usize,
    header: [u8; HEADER_BYTES],
    filled: usize,
}

impl FrameParts {
    /// The frames that follow a preface of this length.
    pub(crate) fn after(preface: usize) -> Self {
        Self {
            left: preface,
            header: [0; HEADER_BYTES],
            filled: 0,
        }
    }

    /// Removes the next part from `bytes`. `None` when more bytes have to come.
    pub(crate) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<FramePart<'a>> {
        if bytes.is_empty() {
            return None;
        }
        if self.left > 0 {
            let (payload, rest) = bytes.split_at(self.left.min(bytes.len()));
            *bytes = rest;
            self.left -= payload.len();
            return Some(FramePart::Payload(payload));
        }
        let (taken, rest) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.filled));
        *bytes = rest;
        self.header[self.filled..self.filled + taken.len()].copy_from_slice(taken);
        self.filled += taken.len();
        if self.filled < HEADER_BYTES {
            return None;
        }
        self.filled = 0;
        let header = FrameHeader::of(self.header);
        self.left = header.length;
        Some(FramePart::Header(header))
    }

    /// Whether a frame has arrived in part.
    pub(crate) fn is_in_frame(&self) -> bool {
        self.left > 0 || self.filled > 0
    }
}
