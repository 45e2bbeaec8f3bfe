/// What one step of a decoder did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Bytes taken from the input.
    pub read: usize,
    /// Bytes put into the output.
    pub written: usize,
    /// Whether another step may do something with what is left of the input, even if that is nothing.
    pub more: bool,
}
