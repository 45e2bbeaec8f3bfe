//! The Huffman code of HPACK (RFC 7541, appendix B), as far as lengths and single characters are concerned.

/// The longest code, in bits.
const LONGEST: u32 = 30;

/// Each length in bits, and how many codes have it. Codes of a length are consecutive, and follow the shorter ones.
const COUNTS: [(u32, u32); 21] = [
    (5, 10),
    (6, 26),
    (7, 32),
    (8, 6),
    (10, 5),
    (11, 3),
    (12, 2),
    (13, 6),
    (14, 2),
    (15, 3),
    (19, 3),
    (20, 8),
    (21, 13),
    (22, 26),
    (23, 29),
    (24, 12),
    (25, 4),
    (26, 15),
    (27, 19),
    (28, 29),
    (30, 4),
];

/// Each length, and the end of its codes when all codes are extended to the longest length.
const ENDS: [(u32, u32); COUNTS.len()] = ends();

const fn ends() -> [(u32, u32); COUNTS.len()] {
    let (mut ends, mut end, mut at) = (COUNTS, 0, 0);
    while at < COUNTS.len() {
        let (length, count) = COUNTS[at];
        end += count << (LONGEST - length);
        ends[at] = (length, end);
        at += 1;
    }
    ends
}

/// A character, as its code and its length in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HuffmanCode(pub(crate) u32, pub(crate) u32);

/// The bits of a text that are not decoded yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HuffmanBits {
    bits: u64,
    count: u32,
}

impl HuffmanBits {
    /// Adds a byte. `note` gets the characters that it completes.
    pub(crate) fn pass(&mut self, byte: u8, mut note: impl FnMut(HuffmanCode)) {
        self.bits = self.bits << 8 | u64::from(byte);
        self.count += 8;
        while self.count >= LONGEST {
            let code = code_of(self.bits >> (self.count - LONGEST));
            self.count -= code.1;
            note(code);
        }
    }

    /// The text is complete. `note` gets the rest, without the padding.
    pub(crate) fn end(&mut self, mut note: impl FnMut(HuffmanCode)) {
        while self.count > 0 {
            let missing = LONGEST - self.count;
            let code = code_of(self.bits << missing | ((1 << missing) - 1));
            if code.1 > self.count {
                return;
            }
            self.count -= code.1;
            note(code);
        }
    }
}

/// The code at the beginning of these bits.
fn code_of(bits: u64) -> HuffmanCode {
    let bits = u32::try_from(bits & ((1 << LONGEST) - 1)).unwrap_or(u32::MAX);
    let found = ENDS.iter().find(|(_, end)| bits < *end);
    let (length, _) = found.expect("the codes fill the space");
    HuffmanCode(bits >> (LONGEST - length), *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Vec<HuffmanCode> {
        let (mut state, mut codes) = (HuffmanBits::default(), Vec::new());
        for byte in bytes {
            state.pass(*byte, |code| codes.push(code));
        }
        state.end(|code| codes.push(code));
        codes
    }

    #[test]
    fn examples_of_the_rfc_have_the_length_of_their_text() {
        // RFC 7541, C.4.1 and C.6.1.
        let authority = [
            0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff,
        ];
        assert_eq!(decoded(&authority).len(), "www.example.com".len());
        let date = [
            0xd0, 0x7a, 0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b,
            0x81, 0x66, 0xe0, 0x82, 0xa6, 0x2d, 0x1b, 0xff,
        ];
        assert_eq!(decoded(&date).len(), "Mon, 21 Oct 2013 20:13:21 GMT".len());
    }

    #[test]
    fn the_codes_fill_the_space_and_any_bytes_can_be_decoded() {
        assert_eq!(ENDS.last(), Some(&(LONGEST, 1 << LONGEST)));
        assert_eq!(COUNTS.iter().map(|(_, count)| count).sum::<u32>(), 257);
        assert_eq!(decoded(&[0xff; 60]).len(), 16);
        for byte in 0..=255 {
            decoded(&[byte; 64]);
        }
    }
}
