/// What follows the pieces that an encoder gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// More pieces, soon: the encoder may hold back output.
    More,
    /// A pause: the output so far must decode to every piece so far.
    Flush,
    /// Nothing: the body is complete.
    Finish,
}
