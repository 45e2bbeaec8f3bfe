use crate::Pieces;

/// What the fuzzer found, or a seed from the corpus: two bytes that decide where the rest is cut,
/// one that selects an option of the target, and the bytes under test.
///
/// In a seed the three are digits and letters, so that it can be read and written by hand.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    cuts: [u8; 2],
    /// Selects what the target does with the bytes.
    pub option: u8,
    /// The bytes under test.
    pub bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// Returns `None` for fewer than three bytes.
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<Input<'a>> {
        let ([first, second, option], bytes) = data.split_first_chunk()?;
        Some(Input {
            cuts: [*first, *second],
            option: *option,
            bytes,
        })
    }

    /// The bytes in pieces, none of them empty.
    #[must_use]
    pub fn pieces(&self) -> Pieces<'a> {
        self.pieces_of(self.bytes)
    }

    /// Other bytes, cut by the same rule.
    #[must_use]
    pub fn pieces_of<'b>(&self, bytes: &'b [u8]) -> Pieces<'b> {
        Pieces::new(bytes, self.cuts)
    }

    /// A number below `bound`, taken from the option.
    #[must_use]
    pub fn choose(&self, bound: usize) -> usize {
        usize::from(self.option) % bound
    }
}
