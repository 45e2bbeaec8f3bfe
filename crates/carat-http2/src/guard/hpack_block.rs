//! Finds the texts of the fields in compressed header blocks (RFC 7541, section 6). Malformed texts
//! are replaced in place.

use crate::guard::field_text::{FieldText, TextKind};

/// Integers of more bits than this are errors of the client, which the decoder refuses.
const SHIFT_LIMIT: u32 = 28;
/// The fields of the static table (RFC 7541, appendix A).
const STATIC_FIELDS: usize = 61;
/// The pseudo-fields of the static table, which come first.
const STATIC_PSEUDO_FIELDS: usize = 14;
/// The index of `:path` in the static table.
const PATH_INDEX: u8 = 4;
/// The bit in the first byte of a field that is added to the table: 6 bits of that byte belong to the index of the name.
/// A field that is not added has 4 bits for the index.
const INDEXED: u8 = 0x40;
/// The bit in the first byte of a text that says that the text is in Huffman code.
const HUFFMAN: u8 = 0x80;
/// The greatest value of the low 7 bits of a byte. As the first byte of an integer, it says that further bytes follow.
const INTEGER_MOST: usize = 0x7f;
/// The byte that fills the room behind a text that became shorter: a whole field, the `age` of the static table,
/// without a value.
const FILLER: u8 = 0x95;
/// The largest table of a decoder, which is the default.
const TABLE_LIMIT: usize = 4096;
/// The most fields in that table: each counts for at least 32 bytes (RFC 7541, section 4.1).
const TABLE_FIELDS: usize = TABLE_LIMIT / 32;

/// A fault of a header block as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockError {
    /// The block cannot be decoded.
    Compression,
}

/// Follows the header blocks of a connection, in pieces of any size, and keeps the kinds of the fields in the
/// decoder's table.
#[derive(Default)]
pub(crate) struct HpackBlocks {
    stage: Stage,
    are_trailers: bool,
    has_pseudo_field: bool,
    /// Whether the field that is being read is added to the table.
    is_indexed: bool,
    added: AddedFields,
}

/// The kinds of the values of the fields that were added to the table last; the oldest may have left it. A field that
/// refers to the name of one of them has a value of the same kind.
struct AddedFields {
    kinds: [TextKind; TABLE_FIELDS],
    count: usize,
}

impl Default for AddedFields {
    fn default() -> Self {
        Self {
            kinds: [TextKind::Value; TABLE_FIELDS],
            count: 0,
        }
    }
}

impl AddedFields {
    fn push(&mut self, kind: TextKind) {
        self.kinds[self.count % TABLE_FIELDS] = kind;
        self.count += 1;
    }

    /// The kind of a field by its index; the newest has index 1. `None` where the table holds no such field.
    fn kind(&self, index: usize) -> Option<TextKind> {
        let at = self.count.checked_sub(index)?;
        (index <= TABLE_FIELDS).then(|| self.kinds[at % TABLE_FIELDS])
    }
}

#[derive(Clone, Copy, Default)]
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

#[derive(Clone, Copy)]
enum IntegerOf {
    Field,
    Name,
    TableSize,
    Text { kind: TextKind, is_huffman: bool },
}

impl HpackBlocks {
    /// Begins a block.
    pub(crate) fn begin(&mut self, are_trailers: bool) {
        self.are_trailers = are_trailers;
        self.has_pseudo_field = false;
    }

    /// Whether the block has fields that trailers must not have (RFC 9113, section 8.1).
    pub(crate) fn are_malformed_trailers(&self) -> bool {
        self.are_trailers && self.has_pseudo_field
    }

    /// Reads bytes of the block, and mends them: malformed texts are replaced, as [`FieldText`] says.
    pub(crate) fn pass(&mut self, bytes: &mut [u8]) -> Result<(), BlockError> {
        // The indices at which the field, and the length of its text, begin in this piece.
        let (mut field, mut length) = (None, None);
        let mut at = 0;
        while at < bytes.len() {
            match &mut self.stage {
                Stage::Text(text) => {
                    let kind = text.kind();
                    let end = at + text.left();
                    let begin = if kind == TextKind::Name {
                        field
                    } else {
                        length
                    };
                    let whole = begin.filter(|_| end <= bytes.len());
                    let replaced = whole.and_then(|begin| {
                        let count = text.replaced(&bytes[at..end], self.is_indexed)?;
                        Some((begin, count))
                    });
                    at += match replaced {
                        Some((begin, count)) => {
                            replace(&mut bytes[begin..end], kind, count);
                            end - at
                        }
                        None => text.pass(&mut bytes[at..]),
                    };
                    let text = *text;
                    if text.is_complete() {
                        self.complete(text);
                    }
                    continue;
                }
                Stage::Field => field = Some(at),
                Stage::Length(_) => length = Some(at),
                Stage::Integer { .. } => {}
            }
            let empty = self.empty(bytes[at]);
            self.pass_byte(bytes[at])?;
            if let Some(first) = field {
                self.mend_without_text(&mut bytes[first..=at], empty);
            }
            at += 1;
        }
        Ok(())
    }

    /// Renames a field for which the decoder would end the connection, although no byte of a text
    /// is malformed: its name or method is empty, or it is the `:status` of the static table.
    /// `field` has the bytes of the field so far. `empty` is the kind of the text, if the last byte
    /// is the length of an empty text.
    fn mend_without_text(&mut self, field: &mut [u8], empty: Option<TextKind>) {
        let last = field.len() - 1;
        match empty {
            Some(TextKind::Name) => {
                name_path(field);
                self.begin_value(TextKind::Status);
            }
            Some(TextKind::Method) => name_path(&mut field[..last]),
            _ if last == 0 && names_status(field[0]) => name_path(field),
            _ => {}
        }
    }

    /// The kind of the text that begins, if this byte is its length and says that it is empty.
    fn empty(&self, byte: u8) -> Option<TextKind> {
        match self.stage {
            Stage::Length(kind) if byte & !HUFFMAN == 0 => Some(kind),
            _ => None,
        }
    }

    /// Reads a byte outside of texts.
    fn pass_byte(&mut self, byte: u8) -> Result<(), BlockError> {
        match self.stage {
            Stage::Integer { value, shift, of } => self.extend(byte, value, shift, of),
            Stage::Length(kind) => {
                let is_huffman = byte & HUFFMAN != 0;
                self.begin_integer(byte, 7, IntegerOf::Text { kind, is_huffman })
            }
            Stage::Field | Stage::Text(_) => self.begin_field(byte),
        }
    }

    /// Ends a block. Returns an error if the block ends within a field.
    pub(crate) fn end(&mut self) -> Result<(), BlockError> {
        match self.stage {
            Stage::Field => Ok(()),
            _ => Err(BlockError::Compression),
        }
    }

    fn begin_field(&mut self, byte: u8) -> Result<(), BlockError> {
        self.is_indexed = byte & 0xc0 == INDEXED;
        match byte {
            0x80.. => self.begin_integer(byte, 7, IntegerOf::Field),
            0x40.. => self.begin_integer(byte, 6, IntegerOf::Name),
            0x20.. => self.begin_integer(byte, 5, IntegerOf::TableSize),
            _ => self.begin_integer(byte, 4, IntegerOf::Name),
        }
    }

    /// Begins an integer in the low bits of this byte (RFC 7541, section 5.1).
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

    /// Goes on behind a complete integer.
    fn have(&mut self, value: usize, of: IntegerOf) -> Result<(), BlockError> {
        match of {
            IntegerOf::Field => {
                let kind = self.kind_after(value).ok_or(BlockError::Compression)?;
                self.has_pseudo_field |= kind.is_pseudo();
                self.stage = Stage::Field;
            }
            IntegerOf::Name if value == 0 => self.stage = Stage::Length(TextKind::Name),
            IntegerOf::Name => {
                let kind = self.kind_after(value).ok_or(BlockError::Compression)?;
                self.begin_value(kind);
            }
            IntegerOf::TableSize if value > TABLE_LIMIT => return Err(BlockError::Compression),
            IntegerOf::TableSize => self.stage = Stage::Field,
            IntegerOf::Text { kind, is_huffman } => {
                let text = FieldText::new(kind, value, is_huffman);
                if text.is_complete() {
                    self.complete(text);
                } else {
                    self.stage = Stage::Text(text);
                }
            }
        }
        Ok(())
    }

    /// The kind of a field's value, by the index of the field in the static table and, behind it,
    /// the dynamic table.
    fn kind_after(&self, index: usize) -> Option<TextKind> {
        match index {
            0 => None,
            2 | 3 => Some(TextKind::Method),
            1 | 4..=7 => Some(TextKind::PseudoValue),
            8..=STATIC_PSEUDO_FIELDS => Some(TextKind::Status),
            _ if index <= STATIC_FIELDS => Some(TextKind::Value),
            _ => self.added.kind(index - STATIC_FIELDS),
        }
    }

    fn begin_value(&mut self, kind: TextKind) {
        self.has_pseudo_field |= kind.is_pseudo();
        self.stage = Stage::Length(kind);
    }

    /// Continues behind a complete text: a name is followed by a value, and a value by another field.
    fn complete(&mut self, text: FieldText) {
        if let Some(kind) = text.next() {
            return self.begin_value(kind);
        }
        if self.is_indexed {
            self.added.push(text.kind());
        }
        self.stage = Stage::Field;
    }
}

/// Replaces a text in Huffman code and its length by `count` plain substitutes. `bytes` begin with the length or, for
/// a name, with the byte before it. Bytes that are left over become further fields: the request is refused anyway.
fn replace(bytes: &mut [u8], kind: TextKind, count: usize) {
    let (first, is_name) = (bytes[0], kind == TextKind::Name);
    let end = bytes.len();
    bytes.fill(FILLER);
    let length = usize::from(is_name);
    let text = length + integer_bytes(count);
    let own = if is_name {
        &mut bytes[end - text - count..]
    } else {
        &mut bytes[..text + count]
    };
    own[0] = first;
    write_integer(&mut own[length..text], count);
    own[text..].fill(kind.substitute());
}

/// Whether this byte begins a field whose name is `:status` of the static table, and whose value follows.
fn names_status(first: u8) -> bool {
    match first {
        0x80.. => false,
        INDEXED.. => (0x48..=0x4e).contains(&first),
        _ => first < 0x20 && (8..=14).contains(&(first & 0x0f)),
    }
}

/// Makes `:path` the name of a field, in the bytes that precede its value, because the decoder
/// would end the connection for the field's own name. The request is refused, since the field is
/// empty, or has only tabs.
fn name_path(head: &mut [u8]) {
    let first = head[0];
    let representation = if first & INDEXED != 0 {
        INDEXED
    } else {
        first & 0xf0
    };
    head.fill(FILLER);
    if let Some(last) = head.last_mut() {
        *last = representation | PATH_INDEX;
    }
}

/// How many bytes an integer takes that begins in the low 7 bits of a byte (RFC 7541, section 5.1).
fn integer_bytes(value: usize) -> usize {
    match value.checked_sub(INTEGER_MOST) {
        None => 1,
        Some(rest) => 1 + rest.max(1).ilog2() as usize / 7 + 1,
    }
}

fn write_integer(bytes: &mut [u8], value: usize) {
    let low = |value: usize| u8::try_from(value & 0x7f).expect("7 bits");
    let (first, others) = bytes.split_first_mut().expect("not empty");
    *first = low(value.min(INTEGER_MOST));
    let mut rest = value.wrapping_sub(INTEGER_MOST);
    for byte in others.iter_mut() {
        *byte = low(rest) | 0x80;
        rest >>= 7;
    }
    if let Some(last) = others.last_mut() {
        *last &= 0x7f;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::huffman;

    /// The bytes that the decoder gets of a block, however the block is cut.
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
            (b"\x42\x03G T", b"\x42\x03G``"),
            (b"\x00\x07:method\x02\x01a", b"\x00\x07:method\x02``"),
        ] {
            assert_eq!(mended(block), expected, "{block:x?}");
        }
    }

    #[test]
    fn malformed_texts_in_huffman_code_become_plain_ones() {
        for (block, expected) in [
            (&b"\x00\x81\x87\x01a"[..], &b"\x00\x01\"\x01a"[..]),
            (
                b"\x40\x84\xfc\x5b\x85\x7f\x81\x1f",
                b"\x40\x04\"\"\"\"\x81\x1f",
            ),
            (b"\x00\x83\xb9\x29\xcf\x00", b"\x00\x03\"\"\"\x00"),
            (
                b"\x00\x81\x1f\x84\xff\xff\xff\xf3",
                b"\x00\x81\x1f\x04\t\t\t\t",
            ),
            (
                b"\x0f\x2b\x8e\x18\xc6\x31\x8c\x63\x18\xc6\x31\x8c\x63\xff\xff\xff\xf3\x90",
                b"\x0f\x2b\x0e\t\t\t\t\t\t\t\t\t\t\t\t\t\t\x90",
            ),
        ] {
            assert_eq!(mended(block), expected, "{block:x?}");
        }
    }

    #[test]
    fn what_the_decoder_never_takes_becomes_a_second_path() {
        for (block, expected) in [
            (&b"\x48\x03abc"[..], &b"\x44\x03\t\t\t"[..]),
            (b"\x0e\x03200", b"\x04\x03\t\t\t"),
            (b"\x1e\x00", b"\x14\x00"),
            (b"\x48\x82\x10\x01", b"\x44\x02\t\t"),
            (b"\x48\x01a\x7e\x01/", b"\x44\x01\t\x7e\x01\t"),
            (b"\x00\x07:status\x03200", b"\x00\x07\"statu\"\x03200"),
            (b"\x00\x00\x01a", b"\x95\x04\x01\t"),
            (b"\x40\x80\x00", b"\x95\x44\x00"),
            (b"\x42\x00", b"\x44\x00"),
            (b"\x13\x80", b"\x14\x80"),
            (
                b"\x40\x07:method\x00",
                b"\x95\x95\x95\x95\x95\x95\x95\x95\x44\x00",
            ),
        ] {
            let whole = passed(block, block.len());
            assert_eq!(whole.as_deref(), Ok(expected), "{block:x?}");
        }
    }

    #[test]
    fn a_value_is_mended_as_the_name_in_the_table_wants_it() {
        for (block, expected) in [
            (
                &b"\x44\x01/\x7e\x02\xff/"[..],
                &b"\x44\x01/\x7e\x02\t\t"[..],
            ),
            (b"\x42\x01A\x7e\x03G T", b"\x42\x01A\x7e\x03G``"),
            (
                b"\x40\x05:path\x01/\x0f\x2f\x01\xff",
                b"\x40\x05:path\x01/\x0f\x2f\x01\t",
            ),
            // The name comes from the field before the last one. That field took its name from the table, too.
            (
                b"\x42\x01A\x7e\x01B\x40\x01x\x01\xe9\x0f\x30\x03G T",
                b"\x42\x01A\x7e\x01B\x40\x01x\x01\xe9\x0f\x30\x03G``",
            ),
            (
                b"\x44\x01/\x40\x01x\x01y\x7e\x01\xff",
                b"\x44\x01/\x40\x01x\x01y\x7e\x01\xff",
            ),
        ] {
            assert_eq!(mended(block), expected, "{block:x?}");
        }
    }

    #[test]
    fn the_kinds_of_as_many_fields_are_kept_as_the_table_holds() {
        let mut added = AddedFields::default();
        assert!(added.kind(1).is_none());
        added.push(TextKind::Method);
        for _ in 1..TABLE_FIELDS {
            added.push(TextKind::Value);
        }
        assert!(added.kind(TABLE_FIELDS) == Some(TextKind::Method));
        added.push(TextKind::PseudoValue);
        assert!(added.kind(1) == Some(TextKind::PseudoValue));
        assert!(added.kind(TABLE_FIELDS) == Some(TextKind::Value));
        assert!(added.kind(TABLE_FIELDS + 1).is_none());
    }

    #[test]
    fn a_text_for_the_table_becomes_no_longer_than_what_it_stood_for() {
        for (block, expected) in [
            (
                &b"\x40\x81\x1f\x84\xff\xff\xff\xf3"[..],
                &b"\x40\x81\x1f\x01\t\x95\x95\x95"[..],
            ),
            (
                b"\x40\x81\xf3\x85\x1f\xff\xfd\x88\xff\x82",
                b"\x40\x81\xf3\x03\t\t\t\x95\x95\x82",
            ),
            (
                b"\x40\x84\xff\xff\xff\xf3\x01a",
                b"\x95\x95\x95\x40\x01\"\x01a",
            ),
        ] {
            assert_eq!(mended(block), expected, "{block:x?}");
        }
        // A length of three bytes becomes one of two.
        for (count, length) in [(126, &b"\x7e"[..]), (127, b"\x7f\0"), (128, b"\x7f\x01")] {
            let text = huffman::encode(&vec![b'\n'; count]);
            let mut block = vec![0x7e, 0xff, 0, 0];
            write_integer(&mut block[1..], text.len());
            block[1] |= HUFFMAN;
            block.extend(text);
            let expected = [&b"\x7e"[..], length, &vec![b'\t'; count]].concat();
            let mut blocks = HpackBlocks::default();
            blocks.added.push(TextKind::Value);
            assert_eq!(blocks.pass(&mut block), Ok(()));
            let fillers = block.strip_prefix(&expected[..]).expect("the text");
            assert!(fillers.iter().all(|byte| *byte == FILLER));
        }
    }

    #[test]
    fn integers_are_written_as_they_are_read() {
        for value in [1, 126, 127, 128, 254, 255, 16_509, 16_510, 16_511, 32_768] {
            let mut block = vec![0x40, 1, b'x'];
            let length = block.len();
            block.resize(length + integer_bytes(value), 0);
            write_integer(&mut block[length..], value);
            block.resize(block.len() + value, b'a');
            assert_eq!(mended(&block), block);
        }
    }

    #[test]
    fn what_is_well_formed_stays_as_it_is() {
        for block in [
            &b"\x82\x86\x44\x04/a#b\x41\x09localhost"[..],
            b"\x44\x04/\xc3\xa9a",
            b"\x00\x05:path\x02/a\x40\x0a:authority\x01a",
            b"\x20\x3f\xe1\x1f\x40\x01x\x03a\tb\xbe\x7e\x01\xe9",
            b"\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff",
            b"\x00\x84\xb9\x58\xd3\x3f\x01/\x00\x81\xf3\x81\x1f",
            // UTF-8 in a path.
            b"\x44\x93\x63\xff\xf8\xff\xff\xb8\x31\x8c\x63\x18\xc6\x31\x8c\x63\x18\xc6\x31\x8c\x7f",
            // Characters beyond ASCII in a value.
            b"\x0f\x2b\x8a\x1f\xff\xf1\xff\xff\x73\xf8\xff\x3f\xe7",
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

    fn are_malformed_trailers(block: &[u8]) -> bool {
        let mut blocks = HpackBlocks::default();
        blocks.begin(false);
        let indexed = b"\x40\x01x\x01y\x42\x03PUT\x44\x01/";
        assert_eq!(blocks.pass(&mut indexed.to_vec()), Ok(()));
        blocks.begin(true);
        assert_eq!(blocks.pass(&mut block.to_vec()), Ok(()));
        blocks.are_malformed_trailers()
    }

    #[test]
    fn trailers_have_no_pseudo_fields() {
        for block in [
            &b"\x82"[..],
            b"\x04\x01/",
            b"\x00\x05:path\x01/",
            // In Huffman code.
            b"\x00\x84\xb9\x58\xd3\x3f\x01/",
            // Fields of the table, and one whose name is there.
            b"\xbe",
            b"\xbf",
            b"\x0f\x2f\x01/",
        ] {
            assert!(are_malformed_trailers(block), "{block:x?}");
        }
        assert!(!are_malformed_trailers(
            b"\x00\x01x\x01y\x90\xc0\x0f\x31\x01z"
        ));
    }
}
