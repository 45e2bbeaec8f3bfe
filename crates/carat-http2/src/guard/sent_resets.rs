//! The streams that a server has reset, found in the bytes that it sends.

use crate::guard::frame_parts::{FramePart, FrameParts};

const RESET: u8 = 0x3;
const CODE_BYTES: u32 = 4;

/// Finds the `RST_STREAM` frames (RFC 9113, section 6.4) in the bytes that a server sends. h2
/// resets streams that break the protocol without telling its caller.
///
/// ```
/// use carat_http2::SentResets;
///
/// let mut sent = SentResets::default();
/// let mut codes = Vec::new();
/// sent.pass(&[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7], |code| codes.push(code));
/// assert_eq!(codes, [7]);
/// ```
pub struct SentResets {
    parts: FrameParts,
    /// Bytes of the error code of a reset that are still to come.
    code_left: u32,
    code: u32,
}

impl Default for SentResets {
    fn default() -> Self {
        Self {
            parts: FrameParts::after(0),
            code_left: 0,
            code: 0,
        }
    }
}

impl SentResets {
    /// Looks at the next `bytes`. `note` gets the error code of each reset.
    pub fn pass(&mut self, mut bytes: &[u8], mut note: impl FnMut(u32)) {
        while let Some(part) = self.parts.next(&mut bytes) {
            match part {
                FramePart::Header(header) => {
                    self.code_left = if header.kind == RESET { CODE_BYTES } else { 0 };
                }
                FramePart::Payload(payload) if self.code_left > 0 => {
                    for byte in payload {
                        self.code = self.code << 8 | u32::from(*byte);
                        self.code_left = self.code_left.saturating_sub(1);
                        if self.code_left == 0 {
                            note(self.code);
                            break;
                        }
                    }
                }
                FramePart::Payload(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_resets_are_found_in_pieces_of_any_size() {
        let mut bytes = vec![0, 0, 3, 0, 1, 0, 0, 0, 1, 3, 3, 3];
        bytes.extend([0, 0, 4, RESET, 0, 0, 0, 0, 3, 0, 0, 0, 1]);
        bytes.extend([0, 0, 0, 4, 1, 0, 0, 0, 0]);
        bytes.extend([0, 0, 4, RESET, 0, 0, 0, 0, 5, 1, 2, 3, 4]);
        bytes.extend([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 11]);
        for size in 1..=bytes.len() {
            let (mut sent, mut codes) = (SentResets::default(), Vec::new());
            for piece in bytes.chunks(size) {
                sent.pass(piece, |code| codes.push(code));
            }
            assert_eq!(codes, [1, 0x0102_0304], "pieces of {size}");
        }
    }
}
