//! Carat's edge.
#![forbid(unsafe_code)]
fn main() {}
