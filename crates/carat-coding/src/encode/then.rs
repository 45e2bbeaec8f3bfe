/// Whether more pieces follow those that an encoder has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// More pieces, soon: the encoder may hold back output.
    More,
    /// A pause: the output so far must decode to every piece so far.
    Flush,
    /// Nothing: the body is complete.
    Finish,
}
