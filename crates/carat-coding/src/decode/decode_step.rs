/// The bytes that one step of a decoder read and wrote.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeStep {
    /// Bytes read from the input.
    pub read: usize,
    /// Bytes written to the output.
    pub written: usize,
    /// Whether another step may produce output or read more, even without further input.
    pub more: bool,
}
