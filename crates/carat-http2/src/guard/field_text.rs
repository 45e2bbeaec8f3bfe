//! A name or a value in a compressed header block (RFC 7541, section 5.2).

use crate::guard::huffman::{self, may_be_special};
use carat_guard::ByteClass;

/// A text that is being read.
///
/// For some malformed texts, h2 ends the connection, where RFC 9113 (section 8.1.1) wants only the
/// stream to end: behind a proxy, one client would end the requests of others. So each malformed
/// byte is replaced by one that the decoder accepts, and for which the request is refused. The
/// length of the text, and thus the decoder's table, stays as it was.
///
/// A malformed text in Huffman code is replaced as a whole by a plain text. If the field is added
/// to the table, the plain text is no longer than the decoded one: then the decoder's table is no
/// fuller than the client's, and still has each field that the client refers to. A Huffman text of
/// which only a part has arrived stays as it is.
#[derive(Clone, Copy)]
pub(crate) struct FieldText {
    kind: TextKind,
    /// Bytes that are still to come.
    left: usize,
    state: TextState,
}

/// The kind of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Name,
    Value,
    Method,
    PseudoValue,
    /// The value of a field that no request has: `:status`, or a field without a name.
    Status,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextState {
    Huffman,
    Begun,
    WellFormed,
    /// The name of a pseudo-field that h2 knows, or the first part of a name that may become one,
    /// with the kind of the text that follows.
    PseudoName(TextKind),
    Malformed,
}

/// The names of the pseudo-fields of requests.
const PSEUDO_NAMES: [&[u8]; 5] = [
    b":authority",
    b":method",
    b":path",
    b":protocol",
    b":scheme",
];

impl TextKind {
    fn may_have(self, byte: u8) -> bool {
        match self {
            TextKind::Name => ByteClass::TOKEN.has(byte) && !byte.is_ascii_uppercase(),
            TextKind::Value => ByteClass::TEXT.has(byte),
            TextKind::Method => ByteClass::TOKEN.has(byte),
            // The decoder ends the connection for a value that is not UTF-8; for any other fault,
            // it ends the stream.
            TextKind::PseudoValue => byte.is_ascii(),
            TextKind::Status => false,
        }
    }

    /// Whether the text is the value of a pseudo-field.
    pub(crate) fn is_pseudo(self) -> bool {
        match self {
            TextKind::Method | TextKind::PseudoValue | TextKind::Status => true,
            TextKind::Name | TextKind::Value => false,
        }
    }

    /// The byte that replaces a malformed one. A name with a quotation mark, a method that ends with a backtick, and
    /// a value that ends with a tab are refused by [`DecodedHead`](crate::DecodedHead). h2 resets the stream of a
    /// pseudo-field with a tab.
    pub(crate) fn substitute(self) -> u8 {
        match self {
            TextKind::Name => b'"',
            TextKind::Method => b'`',
            TextKind::Value | TextKind::PseudoValue | TextKind::Status => b'\t',
        }
    }

    /// The kind of text that follows the name of a pseudo-field.
    pub(crate) fn after_pseudo(name: &[u8]) -> TextKind {
        if name == b":method" {
            TextKind::Method
        } else {
            TextKind::PseudoValue
        }
    }
}

impl FieldText {
    /// A text of this many bytes, at least one.
    pub(crate) fn new(kind: TextKind, bytes: usize, is_huffman: bool) -> FieldText {
        FieldText {
            kind,
            left: bytes,
            state: if is_huffman {
                TextState::Huffman
            } else {
                TextState::Begun
            },
        }
    }

    /// Checks a text in Huffman code that has come as a whole. Returns how many substitutes replace
    /// it, if it is malformed.
    pub(crate) fn replaced(&mut self, own: &[u8], is_indexed: bool) -> Option<usize> {
        let is_name = self.kind == TextKind::Name;
        let may_be_plain = matches!(self.kind, TextKind::Value | TextKind::PseudoValue);
        if self.state != TextState::Huffman || (may_be_plain && !may_be_special(own)) {
            return None;
        }
        let text = huffman::decode(own);
        let is = |name: &&&[u8]| text.clone().eq(name.iter().copied().map(u16::from));
        if let (true, Some(name)) = (is_name, PSEUDO_NAMES.iter().find(is)) {
            self.state = TextState::PseudoName(TextKind::after_pseudo(name));
            return None;
        }
        // The end-of-text symbol within a text is an error of the connection, which h2 reports.
        let text: Vec<u8> = text.map(u8::try_from).collect::<Result<_, _>>().ok()?;
        if self.is_well_formed(&text) {
            return None;
        }
        let length = text.len();
        (self.state, self.left) = (TextState::Malformed, 0);
        Some(if is_indexed {
            own.len().min(length)
        } else {
            own.len()
        })
    }

    /// The kind of the text.
    pub(crate) fn kind(self) -> TextKind {
        self.kind
    }

    /// Reads and mends the bytes that belong to the text, and returns their number.
    pub(crate) fn pass(&mut self, bytes: &mut [u8]) -> usize {
        let count = self.left.min(bytes.len());
        let own = &mut bytes[..count];
        self.left -= own.len();
        if self.state == TextState::Begun && self.is_pseudo_name(own) {
            self.state = TextState::PseudoName(TextKind::after_pseudo(own));
        }
        match self.state {
            TextState::Huffman | TextState::PseudoName(_) => {}
            TextState::Begun if self.left == 0 && self.is_well_formed(own) => {}
            TextState::Begun | TextState::WellFormed | TextState::Malformed => self.mend(own),
        }
        count
    }

    /// How many bytes are still to come.
    pub(crate) fn left(self) -> usize {
        self.left
    }

    /// Whether all bytes have come.
    pub(crate) fn is_complete(self) -> bool {
        self.left == 0
    }

    /// The kind of the text that follows this one; `None` when the field is complete.
    pub(crate) fn next(self) -> Option<TextKind> {
        match (self.kind, self.state) {
            (TextKind::Name, TextState::PseudoName(kind)) => Some(kind),
            (TextKind::Name, _) => Some(TextKind::Value),
            _ => None,
        }
    }

    /// Whether the decoder and the guard accept a text that has come as a whole.
    fn is_well_formed(self, text: &[u8]) -> bool {
        match self.kind {
            TextKind::PseudoValue => std::str::from_utf8(text).is_ok(),
            kind => text.iter().all(|byte| kind.may_have(*byte)),
        }
    }

    fn is_pseudo_name(self, own: &[u8]) -> bool {
        let may_be_one = self.kind == TextKind::Name && own.starts_with(b":");
        may_be_one && (self.left > 0 || PSEUDO_NAMES.contains(&own))
    }

    fn mend(&mut self, own: &mut [u8]) {
        let substitute = self.kind.substitute();
        for byte in own.iter_mut().filter(|byte| !self.kind.may_have(**byte)) {
            *byte = substitute;
            self.state = TextState::Malformed;
        }
        if self.state != TextState::Malformed {
            self.state = TextState::WellFormed;
        } else if let (0, Some(last)) = (self.left, own.last_mut()) {
            *last = substitute;
        }
    }
}
