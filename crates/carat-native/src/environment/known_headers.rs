//! The headers of a request whose names have codes.

use carat_wire::{Headers, Name};
use magnus::Ruby;
use rb_sys::VALUE;

use crate::interpreter::text;

/// The largest number of headers in a shape. Requests with more known headers are rare: the headers beyond this number
/// are set one by one, by their keys.
pub(crate) const SHAPE_LIMIT: usize = 32;

/// The codes of the known headers of a request, in order: requests of one shape have the same keys in their environments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeaderShape {
    codes: [u8; SHAPE_LIMIT],
    count: u8,
    pub(crate) offers_hijack: bool,
}

impl HeaderShape {
    /// The shape of a request without known headers.
    pub(crate) fn empty(offers_hijack: bool) -> HeaderShape {
        HeaderShape {
            codes: [0; SHAPE_LIMIT],
            count: 0,
            offers_hijack,
        }
    }

    /// The codes, in order.
    pub(crate) fn codes(&self) -> &[u8] {
        &self.codes[..usize::from(self.count)]
    }

    /// Whether no header comes twice: a repeated one has one key only.
    pub(crate) fn is_distinct(&self) -> bool {
        let codes = self.codes();
        (1..codes.len()).all(|index| !codes[..index].contains(&codes[index]))
    }

    /// Adds a code; returns its index, or `None` when there are too many.
    fn push(&mut self, code: u8) -> Option<usize> {
        let index = usize::from(self.count);
        *self.codes.get_mut(index)? = code;
        self.count += 1;
        Some(index)
    }
}

/// The known headers of one request. Nothing here has to be dropped.
pub(crate) struct KnownHeaders {
    pub(crate) shape: HeaderShape,
    values: [VALUE; SHAPE_LIMIT],
}

impl KnownHeaders {
    /// Makes the Strings of the known headers, up to `SHAPE_LIMIT` of them. May raise.
    pub(crate) fn read(ruby: &Ruby, headers: Headers<'_>, offers_hijack: bool) -> KnownHeaders {
        let mut known = KnownHeaders {
            shape: HeaderShape::empty(offers_hijack),
            values: [0; SHAPE_LIMIT],
        };
        for (name, value) in headers {
            let Name::Known(code) = name else { continue };
            let Some(index) = known.shape.push(code) else {
                break;
            };
            known.values[index] = text::binary(ruby, value);
        }
        known
    }

    /// Whether the request may have the header with this code.
    pub(crate) fn may_have(&self, code: u8) -> bool {
        let codes = self.shape.codes();
        codes.len() == SHAPE_LIMIT || codes.contains(&code)
    }

    /// The Strings, in the order of the codes.
    pub(crate) fn values(&self) -> &[VALUE] {
        &self.values[..usize::from(self.shape.count)]
    }
}
