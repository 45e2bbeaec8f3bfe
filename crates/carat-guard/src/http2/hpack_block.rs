//! The fields of compressed header blocks (RFC 7541, section 6): where their texts are, and whether those are malformed.

use crate::field_text::{FieldText, TextKind};

/// Integers of more bits than this are errors of the client, which the decoder refuses.
const SHIFT_LIMIT: u32 = 28;
/// The fields of the static table (RFC 7541, appendix A). Those of requests and responses, with a colon, are its first.
const STATIC_FIELDS: usize = 61;
const STATIC_PSEUDO_FIELDS: usize = 14;
/// The largest table of a decoder, which is the default.
const TABLE_LIMIT: usize = 4096;

/// What is wrong with a header block as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockError {
    /// It cannot be decoded.
    Compression,
    /// Trailers have no such fields (RFC 9113, section 8.1).
    PseudoFieldInTrailers,
}

/// Follows the header blocks of a connection, in pieces of any size, without decoding them: it keeps no table, and
/// passes over texts in Huffman code.
#[derive(Debug, Default)]
pub(crate) struct HpackBlocks {
    stage: Stage,
    are_trailers: bool,
    /// Whether the field that is being read is added to the table.
    is_indexed: bool,
    /// How many fields were added to the table, of which old ones may be gone.
    added: usize,
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
    Length(TextKind),
    /// The rest of a text.
    Text(FieldText),
}

#[derive(Clone, Copy, Debug)]
enum IntegerOf {
    Field,
    Name,
    TableSize,
    Text { kind: TextKind, is_huffman: bool },
}

impl HpackBlocks {
    /// A block begins.
    pub(crate) fn begin(&mut self, are_trailers: bool) {
        self.are_trailers = are_trailers;
    }

    /// Reads bytes of the block, and [mends](FieldText) them.
    pub(crate) fn pass(&mut self, mut bytes: &mut [u8]) -> Result<(), BlockError> {
        while let Some(&mut byte) = bytes.first_mut() {
            if let Stage::Text(text) = &mut self.stage {
                bytes = text.pass(bytes);
                if text.is_complete() {
                    let next = text.next();
                    self.complete(next)?;
                }
                continue;
            }
            bytes = &mut bytes[1..];
            match self.stage {
                Stage::Integer { value, shift, of } => self.extend(byte, value, shift, of)?,
                Stage::Length(kind) => {
                    let is_huffman = byte & 0x80 != 0;
                    self.begin_integer(byte, 7, IntegerOf::Text { kind, is_huffman })?;
                }
                Stage::Field | Stage::Text(_) => self.begin_field(byte)?,
            }
        }
        Ok(())
    }

    /// The block is complete.
    pub(crate) fn end(&mut self) -> Result<(), BlockError> {
        match self.stage {
            Stage::Field => Ok(()),
            _ => Err(BlockError::Compression),
        }
    }

    fn begin_field(&mut self, byte: u8) -> Result<(), BlockError> {
        self.is_indexed = byte & 0xc0 == 0x40;
        match byte {
            0x80.. => self.begin_integer(byte, 7, IntegerOf::Field),
            0x40.. => self.begin_integer(byte, 6, IntegerOf::Name),
            0x20.. => self.begin_integer(byte, 5, IntegerOf::TableSize),
            _ => self.begin_integer(byte, 4, IntegerOf::Name),
        }
    }

    /// An integer begins in the low bits of this byte (RFC 7541, section 5.1).
    fn begin_integer(&mut self, byte: u8, bits: u32, of: IntegerOf) -> Result<(), BlockError> {
        let most = (1 << bits) - 1;
        let value = usize::from(byte) & most;
        if value < most {
            return self.have(value, of);
        }
        self.stage = Stage::Integer {
            value,
            shift: 0,
            of,
        };
        Ok(())
    }

    fn extend(
        &mut self,
        byte: u8,
        value: usize,
        shift: u32,
        of: IntegerOf,
    ) -> Result<(), BlockError> {
        let value = value + (usize::from(byte & 0x7f) << shift);
        let shift = shift + 7;
        if byte & 0x80 == 0 {
            self.have(value, of)
        } else if shift < SHIFT_LIMIT {
            self.stage = Stage::Integer { value, shift, of };
            Ok(())
        } else {
            Err(BlockError::Compression)
        }
    }

    /// An integer is complete.
    fn have(&mut self, value: usize, of: IntegerOf) -> Result<(), BlockError> {
        let is_unknown = match of {
            IntegerOf::Field => value == 0 || value > STATIC_FIELDS + self.added,
            IntegerOf::Name => value > STATIC_FIELDS + self.added,
            IntegerOf::TableSize => value > TABLE_LIMIT,
            IntegerOf::Text { .. } => false,
        };
        if is_unknown {
            return Err(BlockError::Compression);
        }
        match of {
            IntegerOf::Field => {
                self.stage = Stage::Field;
                self.check_pseudo(value <= STATIC_PSEUDO_FIELDS)
            }
            IntegerOf::Name if value == 0 => {
                self.stage = Stage::Length(TextKind::Name);
                Ok(())
            }
            IntegerOf::Name => self.complete(Some(if value <= STATIC_PSEUDO_FIELDS {
                TextKind::PseudoValue
            } else {
                TextKind::Value
            })),
            IntegerOf::TableSize => {
                self.stage = Stage::Field;
                Ok(())
            }
            IntegerOf::Text { kind, is_huffman } => {
                let text = FieldText::new(kind, value, is_huffman);
                if text.is_complete() {
                    return self.complete(text.next());
                }
                self.stage = Stage::Text(text);
                Ok(())
            }
        }
    }

    fn check_pseudo(&self, is_pseudo: bool) -> Result<(), BlockError> {
        if self.are_trailers && is_pseudo {
            return Err(BlockError::PseudoFieldInTrailers);
        }
        Ok(())
    }

    /// A text is complete. The `next` one follows, or another field.
    fn complete(&mut self, next: Option<TextKind>) -> Result<(), BlockError> {
        let Some(next) = next else {
            self.added += usize::from(self.is_indexed);
            self.stage = Stage::Field;
            return Ok(());
        };
        self.stage = Stage::Length(next);
        self.check_pseudo(next == TextKind::PseudoValue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the decoder gets of a block, however it is cut.
    fn mended(block: &[u8]) -> Vec<u8> {
        let whole = passed(block, block.len()).expect("well formed");
        assert_eq!(passed(block, 1).as_ref().map(Vec::len), Ok(block.len()));
        whole
    }

    fn passed(block: &[u8], size: usize) -> Result<Vec<u8>, BlockError> {
        let (mut blocks, mut bytes) = (HpackBlocks::default(), block.to_vec());
        blocks.begin(false);
        for piece in bytes.chunks_mut(size) {
            blocks.pass(piece)?;
        }
        blocks.end().map(|()| bytes)
    }

    #[test]
    fn malformed_texts_are_mended_in_their_length() {
        for (block, expected) in [
            (&b"\x00\x01x\x03a\nb"[..], &b"\x00\x01x\x03a\t\t"[..]),
            (b"\x40\x01x\x01\0", b"\x40\x01x\x01\t"),
            (b"\x0f\x2b\x02\x7fa", b"\x0f\x2b\x02\t\t"),
            (b"\x00\x03X-a\x01a", b"\x00\x03\"-\"\x01a"),
            (b"\x10\x02a:\x00", b"\x10\x02a\"\x00"),
            (b"\x00\x04:foo\x01a", b"\x00\x04\"fo\"\x01a"),
            (b"\x44\x02/\xff", b"\x44\x02/\t"),
            (b"\x00\x05:path\x02\xff/", b"\x00\x05:path\x02\t\t"),
        ] {
            assert_eq!(mended(block), expected, "{block:x?}");
        }
    }

    #[test]
    fn what_is_well_formed_stays_as_it_is() {
        for block in [
            &b"\x82\x86\x44\x04/a#b\x41\x09localhost"[..],
            b"\x00\x05:path\x02/a\x40\x0a:authority\x01a",
            b"\x20\x3f\xe1\x1f\x40\x01x\x03a\tb\xbe\x7e\x01\xe9",
            b"\x44\x83\x60\x7f\xf5\x00\x81\xf3\x81\x1f",
            b"\x00\x7f\x01"
                .iter()
                .chain(&[b'a'; 128])
                .chain(b"\x00")
                .copied()
                .collect::<Vec<_>>()
                .as_slice(),
        ] {
            assert_eq!(mended(block), block);
        }
    }

    #[test]
    fn what_no_decoder_takes_is_an_error() {
        for block in [
            &b"\x80"[..],
            b"\xbe",
            b"\x7e\x01a",
            b"\x40\x01x\x01y\xbf",
            b"\x3f\xe2\x1f",
            b"\xff\xff\xff\xff\xff\xff",
            b"\x44\x04/a",
            b"\x44",
        ] {
            assert_eq!(passed(block, 1), Err(BlockError::Compression), "{block:x?}");
        }
    }

    #[test]
    fn trailers_have_no_pseudo_fields() {
        for block in [&b"\x82"[..], b"\x04\x01/", b"\x00\x05:path\x01/"] {
            let mut blocks = HpackBlocks::default();
            blocks.begin(true);
            let error = Err(BlockError::PseudoFieldInTrailers);
            assert_eq!(blocks.pass(&mut block.to_vec()), error);
        }
        let mut blocks = HpackBlocks::default();
        blocks.begin(true);
        assert_eq!(blocks.pass(&mut b"\x00\x01x\x01y\x90".to_vec()), Ok(()));
    }
}
