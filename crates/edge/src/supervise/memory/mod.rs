//! What the processes weigh.

#[allow(dead_code, reason = "the control socket and the sampler come next")]
mod rollup;
