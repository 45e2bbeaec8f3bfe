use crate::Malformed;

/// The longest text of a boot failure or a stack in bytes; the rest is cut off.
pub const TEXT_LIMIT: usize = 64 * 1024;

/// Reads the fields of a payload in order.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Cursor { rest: payload }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (field, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(field)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (field, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(*field)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads a byte that is 0 or 1.
    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed::BadValue(what)),
        }
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a `u16` length and as many bytes.
    pub(crate) fn short(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u16()?;
        self.bytes(usize::from(count))
    }

    /// Reads a `u32` length and as many bytes.
    pub(crate) fn long(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.u32()?;
        self.bytes(count as usize)
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(Malformed::Overlong)
        }
    }
}

/// Appends the text that ends a frame, cut to [`TEXT_LIMIT`].
pub(crate) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(&text[..text.len().min(TEXT_LIMIT)]);
}

/// Appends a `u16` length and the bytes.
pub(crate) fn push_short(out: &mut Vec<u8>, field: &[u8]) {
    let count = u16::try_from(field.len())
        .expect("the header limits of the edge bound fields with a u16 length");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(field);
}

/// Appends a `u32` length and the bytes.
pub(crate) fn push_long(out: &mut Vec<u8>, field: &[u8]) {
    let count = u32::try_from(field.len()).expect("no field is larger than FRAME_LIMIT");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(field);
}
