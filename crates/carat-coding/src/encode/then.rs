/// Whether further pieces follow those that an encoder has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Further pieces follow soon: the encoder may hold back output.
    More,
    /// A pause follows: the output so far must decode to every piece so far.
    Flush,
    /// Nothing follows: the body is complete.
    Finish,
}
