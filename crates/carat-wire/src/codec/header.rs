use std::sync::LazyLock;

use crate::Malformed;
use crate::codec::cursor::{Cursor, push_long, push_short};

/// Header names that are sent as one byte: the code of a name is its index here plus 1.
///
/// Both sides of a lane are built together, so the order may change between versions.
pub const NAMES: [&str; 73] = [
    "host",
    "user-agent",
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-charset",
    "accept-ranges",
    "authorization",
    "cache-control",
    "connection",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-security-policy",
    "content-type",
    "cookie",
    "date",
    "dnt",
    "etag",
    "expect",
    "expires",
    "forwarded",
    "from",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "last-modified",
    "link",
    "location",
    "max-forwards",
    "origin",
    "pragma",
    "priority",
    "range",
    "referer",
    "referrer-policy",
    "retry-after",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "server",
    "server-timing",
    "set-cookie",
    "strict-transport-security",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "vary",
    "via",
    "www-authenticate",
    "x-content-type-options",
    "x-csrf-token",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-frame-options",
    "x-request-id",
    "x-request-start",
    "x-requested-with",
    "x-runtime",
    "x-xss-protection",
];

const LITERAL: u8 = 0;
const LONGEST_NAME: usize = 25;

/// The codes of [`NAMES`], by the length of the name.
static CODES: LazyLock<[Vec<(&'static str, u8)>; LONGEST_NAME + 1]> = LazyLock::new(|| {
    let mut by_length = [const { Vec::new() }; LONGEST_NAME + 1];
    for (name, code) in NAMES.into_iter().zip(1_u8..) {
        by_length[name.len()].push((name, code));
    }
    by_length
});

/// The code of a lower-case header name, if it has one.
pub fn code_of(name: &str) -> Option<u8> {
    let candidates = CODES.get(name.len())?;
    candidates
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, code)| code)
}

/// The name with this code.
pub fn name_of(code: u8) -> Result<&'static str, Malformed> {
    let index = usize::from(code)
        .checked_sub(1)
        .ok_or(Malformed::BadValue("header code"))?;
    NAMES
        .get(index)
        .copied()
        .ok_or(Malformed::BadValue("header code"))
}

/// Appends one header: its lower-case name and its value. Returns the offset of the value for
/// [`extend_header`].
pub fn push_header(out: &mut Vec<u8>, name: &str, value: &[u8]) -> usize {
    if let Some(code) = code_of(name) {
        out.push(code);
    } else {
        out.push(LITERAL);
        push_short(out, name.as_bytes());
    }
    let offset = out.len();
    push_long(out, value);
    offset
}

/// Header fields that [`push_header`] has encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EncodedHeaders<'a> {
    /// How many fields there are.
    pub count: u16,
    /// The fields, one after another.
    pub fields: &'a [u8],
}

/// The first byte of a name that stands for a variable of Rack's environment: the name of the variable follows. No
/// header of a client begins with it.
pub const VARIABLE_MARK: u8 = b':';

/// Appends a variable of Rack's environment, which counts as a header.
pub fn push_variable(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.push(LITERAL);
    push_short(out, &[&[VARIABLE_MARK], name.as_bytes()].concat());
    push_long(out, value);
}

/// Appends bytes to the value at `offset`, which must be the last one that was pushed.
///
/// # Panics
///
/// When the value exceeds 4 GiB, which the header limits do not allow.
pub fn extend_header(out: &mut Vec<u8>, offset: usize, pieces: &[&[u8]]) {
    for piece in pieces {
        out.extend_from_slice(piece);
    }
    let start = offset + size_of::<u32>();
    let length = u32::try_from(out.len() - start).expect("the header limits bound a value");
    out[offset..start].copy_from_slice(&length.to_le_bytes());
}

/// A header name as it was sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Name<'a> {
    /// The code of a name in [`NAMES`].
    Known(u8),
    /// Any other name.
    Literal(&'a [u8]),
}

/// The headers of a request or a response: an iterator of names and values.
#[derive(Clone, Copy)]
pub struct Headers<'a> {
    left: u16,
    cursor: Cursor<'a>,
}

impl<'a> Headers<'a> {
    /// Checks `count` headers at the cursor, and moves the cursor past them.
    pub(crate) fn checked(count: u16, cursor: &mut Cursor<'a>) -> Result<Headers<'a>, Malformed> {
        let headers = Headers {
            left: count,
            cursor: *cursor,
        };
        for _ in 0..count {
            read_header(cursor)?;
        }
        Ok(headers)
    }

    /// How many headers are left.
    pub fn len(&self) -> usize {
        usize::from(self.left)
    }

    /// Whether no header is left.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }
}

#[expect(
    clippy::copy_iterator,
    reason = "a request and a response are read-only views, copied freely"
)]
impl<'a> Iterator for Headers<'a> {
    type Item = (Name<'a>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(read_header(&mut self.cursor).expect("`checked` read every header"))
    }
}

fn read_header<'a>(cursor: &mut Cursor<'a>) -> Result<(Name<'a>, &'a [u8]), Malformed> {
    let name = match cursor.u8()? {
        LITERAL => Name::Literal(cursor.short()?),
        code => {
            name_of(code)?;
            Name::Known(code)
        }
    };
    Ok((name, cursor.long()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_has_one_code_and_comes_back_from_it() {
        for name in NAMES {
            let code = code_of(name).expect("every name of the table has a code");
            assert_eq!(name_of(code), Ok(name));
        }
        assert_eq!(code_of("x-unheard-of"), None);
        assert!(name_of(0).is_err());
        assert!(name_of(255).is_err());
    }

    #[test]
    fn the_table_is_sized_for_its_longest_name() {
        let found = NAMES.iter().map(|name| name.len()).max();
        assert_eq!(found, Some(LONGEST_NAME));
    }
}
