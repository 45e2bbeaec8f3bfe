/// What one step of a decoder did.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeStep {
    /// Bytes read from the input.
    pub read: usize,
    /// Bytes written to the output.
    pub written: usize,
    /// Whether another step may produce output or read more, even without further input.
    pub more: bool,
}
