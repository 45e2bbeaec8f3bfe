//! The fields of a compressed header block (RFC 7541, section 6): how much they are, and whether `:path` has a fragment.

use crate::hpack_table::{HpackField, HpackTable};
use crate::hpack_text::HpackText;

/// Integers of more bits than this are errors of the client, which the decoder refuses.
const SHIFT_LIMIT: u32 = 28;

/// Follows the header blocks of a connection, in pieces of any size. After an error of the client it sees nothing any
/// more: its decoder ends the connection.
#[derive(Debug, Default)]
pub(crate) struct HpackBlocks {
    table: HpackTable,
    stage: Stage,
    /// The field that is being read.
    field: HpackField,
    /// Whether that field is added to the table.
    is_indexed: bool,
    summary: BlockSummary,
}

/// What is remembered of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockSummary {
    /// What its fields count (RFC 9113, section 6.5.2).
    pub(crate) size: usize,
    /// Whether one of them is a `:path` with a fragment.
    pub(crate) has_fragment: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// A field, or the end of the block.
    #[default]
    Field,
    /// The rest of an integer.
    Integer {
        value: usize,
        shift: u32,
        of: IntegerOf,
    },
    /// The first byte of a text.
    Length(TextOf),
    /// The rest of a text.
    Text(HpackText, TextOf),
    /// The client has made an error.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextOf {
    Name,
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntegerOf {
    Field,
    Name,
    TableSize,
    Text { of: TextOf, is_huffman: bool },
}

impl HpackBlocks {
    /// Reads bytes of a block.
    pub(crate) fn pass(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if let Stage::Text(text, of) = &mut self.stage {
                let of = *of;
                bytes = text.pass(bytes);
                if text.is_complete() {
                    let text = *text;
                    self.complete(&text, of);
                }
                continue;
            }
            bytes = rest;
            match self.stage {
                Stage::Field => self.begin_field(byte),
                Stage::Integer { value, shift, of } => self.extend(byte, value, shift, of),
                Stage::Length(of) => {
                    let is_huffman = byte & 0x80 != 0;
                    self.begin(byte, 7, IntegerOf::Text { of, is_huffman });
                }
                Stage::Text(..) | Stage::Lost => return,
            }
        }
    }

    /// The block is complete.
    pub(crate) fn end(&mut self) -> BlockSummary {
        if !matches!(self.stage, Stage::Field) {
            self.stage = Stage::Lost;
        }
        std::mem::take(&mut self.summary)
    }

    fn count(&mut self, field: HpackField) {
        self.summary.size = self.summary.size.saturating_add(field.size());
        self.summary.has_fragment |= field.is_path && field.has_fragment;
    }

    fn begin_field(&mut self, byte: u8) {
        self.field = HpackField::default();
        self.is_indexed = byte & 0xc0 == 0x40;
        match byte {
            0x80.. => self.begin(byte, 7, IntegerOf::Field),
            0x40.. => self.begin(byte, 6, IntegerOf::Name),
            0x20.. => self.begin(byte, 5, IntegerOf::TableSize),
            _ => self.begin(byte, 4, IntegerOf::Name),
        }
    }

    /// An integer begins in the low bits of this byte (RFC 7541, section 5.1).
    fn begin(&mut self, byte: u8, bits: u32, of: IntegerOf) {
        let most = (1 << bits) - 1;
        let value = usize::from(byte) & most;
        if value < most {
            self.have(value, of);
        } else {
            self.stage = Stage::Integer {
                value,
                shift: 0,
                of,
            };
        }
    }

    fn extend(&mut self, byte: u8, value: usize, shift: u32, of: IntegerOf) {
        let value = value + (usize::from(byte & 0x7f) << shift);
        if byte & 0x80 == 0 {
            return self.have(value, of);
        }
        let shift = shift + 7;
        self.stage = if shift < SHIFT_LIMIT {
            Stage::Integer { value, shift, of }
        } else {
            Stage::Lost
        };
    }

    /// An integer is complete.
    fn have(&mut self, value: usize, of: IntegerOf) {
        self.stage = match of {
            IntegerOf::Field => match self.table.get(value) {
                Some(field) => {
                    self.count(field);
                    Stage::Field
                }
                None => Stage::Lost,
            },
            IntegerOf::Name if value == 0 => Stage::Length(TextOf::Name),
            IntegerOf::Name => self.table.get(value).map_or(Stage::Lost, |field| {
                self.field = HpackField {
                    has_fragment: false,
                    ..field
                };
                Stage::Length(TextOf::Value)
            }),
            IntegerOf::TableSize => {
                self.table.resize(value);
                Stage::Field
            }
            IntegerOf::Text { of, is_huffman } => {
                let text = HpackText::new(value, is_huffman);
                if value == 0 {
                    return self.complete(&text, of);
                }
                Stage::Text(text, of)
            }
        };
    }

    /// A text is complete.
    fn complete(&mut self, text: &HpackText, of: TextOf) {
        self.stage = match of {
            TextOf::Name => {
                self.field.name = text.length();
                self.field.is_path = text.is_path();
                Stage::Length(TextOf::Value)
            }
            TextOf::Value => {
                self.field.value = text.length();
                self.field.has_fragment = text.has_number_sign();
                self.count(self.field);
                if self.is_indexed {
                    self.table.add(self.field);
                }
                Stage::Field
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(all: &[&[u8]]) -> Vec<bool> {
        let (mut whole, mut cut) = (HpackBlocks::default(), HpackBlocks::default());
        let both = all.iter().map(|block| {
            whole.pass(block);
            block.iter().for_each(|byte| cut.pass(&[*byte]));
            let found = whole.end();
            assert_eq!(cut.end(), found);
            found.has_fragment
        });
        both.collect()
    }

    #[test]
    fn a_fragment_is_found_in_each_form_of_a_field() {
        // Indexed name, literal name, Huffman code, each also never indexed.
        assert_eq!(blocks(&[b"\x44\x04/a#b"]), [true]);
        assert_eq!(blocks(&[b"\x04\x04/a#b"]), [true]);
        assert_eq!(blocks(&[b"\x00\x05:path\x04/a#b"]), [true]);
        assert_eq!(blocks(&[b"\x40\x84\xb9\x58\xd3\x3f\x02/#"]), [true]);
        assert_eq!(blocks(&[b"\x44\x83\x60\x7f\xf5"]), [true]);
        assert_eq!(blocks(&[b"\x44\x03/ab", b"\x04\x81\x63"]), [false, false]);
    }

    #[test]
    fn a_number_sign_elsewhere_is_none() {
        assert_eq!(blocks(&[b"\x00\x06:pathx\x02/#"]), [false]);
        assert_eq!(blocks(&[b"\x00\x04:pat\x02/#"]), [false]);
        assert_eq!(blocks(&[b"\x00\x02x#\x02##\x85\x84"]), [false]);
        assert_eq!(blocks(&[b"\x40\x05x-one\x03a#b", b"\xbe"]), [false, false]);
    }

    #[test]
    fn a_field_of_the_table_keeps_its_fragment() {
        let bad = b"\x44\x04/a#b";
        assert_eq!(blocks(&[bad, b"\xbe", b"\x84"]), [true, true, false]);
        // A newer field moves it; the same name with another value has none.
        let newer = b"\x40\x01x\x01y";
        assert_eq!(blocks(&[bad, newer, b"\xbf"]), [true, false, true]);
        assert_eq!(blocks(&[bad, b"\x0f\x2f\x02/c"]), [true, false]);
        // The table is emptied, so that the index is an error, after which nothing is seen.
        assert_eq!(blocks(&[bad, b"\x20\xbe", bad]), [true, false, false]);
    }

    #[test]
    fn fields_count_as_they_do_in_the_table() {
        let mut blocks = HpackBlocks::default();
        let mut size = |block: &[u8]| {
            blocks.pass(block);
            blocks.end().size
        };
        assert_eq!(size(b"\x82\x84"), 7 + 3 + 32 + 5 + 1 + 32);
        assert_eq!(size(b"\x40\x01x\x03abc\x00\x81\xf3\x03abc"), 36 + 36);
        assert_eq!(size(b"\xbe\xbe\x10\x01x\x81\x1f"), 36 + 36 + 34);
    }

    #[test]
    fn what_no_decoder_takes_ends_the_search() {
        for bytes in [
            &b"\x80"[..],
            b"\xff\xff\xff\xff\xff\xff",
            b"\x44\x7f\xff\xff\xff\xff\x01",
        ] {
            let found = blocks(&[bytes, b"\x44\x04/a#b"]);
            assert_eq!(found, [false, false], "{bytes:x?}");
        }
        // A block that ends within a field.
        assert_eq!(blocks(&[b"\x44\x04/a", b"\x44\x04/a#b"]), [false, false]);
    }
}
