use crate::Malformed;
use crate::codec::cursor::Cursor;

/// The files of a form, in their order. For each file this says whether it was taken out of the body. The descriptor of
/// such a file travels with the frame, after the descriptor of the body. The content of the other files is in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormFiles<'a>(&'a [u8]);

const IN_BODY: u8 = 0;
const APART: u8 = 1;

impl<'a> FormFiles<'a> {
    /// For each file: whether it has a descriptor.
    pub fn iter(self) -> impl ExactSizeIterator<Item = bool> + use<'a> {
        self.0.iter().map(|file| *file == APART)
    }

    /// Whether there are no files.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn decode(cursor: &mut Cursor<'a>) -> Result<FormFiles<'a>, Malformed> {
        let count = cursor.u16()?;
        let files = cursor.bytes(count.into())?;
        if files.iter().any(|file| *file > APART) {
            return Err(Malformed::BadValue("form file"));
        }
        Ok(FormFiles(files))
    }
}

/// Appends for each file whether it has a descriptor.
pub(crate) fn push(out: &mut Vec<u8>, files: impl ExactSizeIterator<Item = bool>) {
    let count = u16::try_from(files.len()).expect("`max_files` is a u16");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend(files.map(|apart| if apart { APART } else { IN_BODY }));
}
