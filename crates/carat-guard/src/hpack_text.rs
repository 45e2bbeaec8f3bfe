//! A text in a compressed header block (RFC 7541, section 5.2), which is not kept.

use crate::huffman::{HuffmanBits, HuffmanCode};

const PATH: &[u8; 5] = b":path";
/// The same in Huffman code.
const PATH_CODES: [HuffmanCode; 5] = [
    HuffmanCode(0x5c, 7),
    HuffmanCode(0x2b, 6),
    HuffmanCode(0x3, 5),
    HuffmanCode(0x9, 5),
    HuffmanCode(0x27, 6),
];
const NUMBER_SIGN: HuffmanCode = HuffmanCode(0xffa, 12);

/// What is remembered of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HpackText {
    /// Bytes that are still to come.
    left: usize,
    huffman: Option<HuffmanBits>,
    length: usize,
    /// How many characters, from the first, are those of `:path`.
    alike: usize,
    has_number_sign: bool,
}

impl HpackText {
    /// A text of this many bytes.
    pub(crate) fn new(bytes: usize, is_huffman: bool) -> Self {
        Self {
            left: bytes,
            huffman: is_huffman.then(HuffmanBits::default),
            length: 0,
            alike: 0,
            has_number_sign: false,
        }
    }

    /// Reads what belongs to the text. Returns the rest.
    pub(crate) fn pass<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (own, rest) = bytes.split_at(self.left.min(bytes.len()));
        self.left -= own.len();
        if let Some(mut huffman) = self.huffman.take() {
            for byte in own {
                huffman.pass(*byte, |code| self.note_code(code));
            }
            if self.left == 0 {
                huffman.end(|code| self.note_code(code));
            }
            self.huffman = Some(huffman);
        } else {
            for byte in own {
                self.note(PATH.get(self.length) == Some(byte), *byte == b'#');
            }
        }
        rest
    }

    /// Whether all bytes have come.
    pub(crate) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// The number of characters.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Whether this is `:path`.
    pub(crate) fn is_path(&self) -> bool {
        self.length == PATH.len() && self.alike == PATH.len()
    }

    /// Whether it contains `#`.
    pub(crate) fn has_number_sign(&self) -> bool {
        self.has_number_sign
    }

    fn note_code(&mut self, code: HuffmanCode) {
        self.note(
            PATH_CODES.get(self.length) == Some(&code),
            code == NUMBER_SIGN,
        );
    }

    fn note(&mut self, is_alike: bool, is_number_sign: bool) {
        self.alike += usize::from(is_alike && self.alike == self.length);
        self.length += 1;
        self.has_number_sign |= is_number_sign;
    }
}
