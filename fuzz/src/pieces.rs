/// Bytes cut into pieces of pseudo-random sizes; see [`Input::pieces`](crate::Input::pieces).
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    rest: &'a [u8],
    state: u32,
    largest: usize,
}

/// The largest piece of an input; a network gives both single bytes and whole buffers.
const LARGEST: [usize; 8] = [2, 3, 5, 9, 17, 65, 257, 4097];

impl<'a> Pieces<'a> {
    /// Equal `cuts` give equal sizes.
    pub(crate) fn new(bytes: &'a [u8], cuts: [u8; 2]) -> Self {
        Self {
            rest: bytes,
            state: u32::from(u16::from_le_bytes(cuts)) | 0x5eed_0000,
            largest: LARGEST[usize::from(cuts[0]) % LARGEST.len()],
        }
    }

    /// The next pseudo-random number (xorshift32 by George Marsaglia).
    fn draw(&mut self) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        self.state as usize
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let size = 1 + self.draw() % self.largest;
        let (piece, rest) = self.rest.split_at(size.min(self.rest.len()));
        self.rest = rest;
        Some(piece)
    }
}
