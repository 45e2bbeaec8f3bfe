//! What the processes weigh.

mod rollup;

pub(crate) use rollup::Rollup;
