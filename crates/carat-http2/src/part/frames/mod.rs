//! Frames on their way from the client to the h2 crate.

mod framed;
mod held_bytes;
#[cfg(test)]
mod malformed_fields;
mod resets;

pub(crate) use framed::FramedStream;
pub(crate) use resets::ResetBudget;
