//! Which requests new code gets, and how it compares with the old.

mod canary_rule;
mod even_share;
mod latency_histogram;

pub use canary_rule::{CanaryRule, CanaryUnit};
pub use even_share::EvenShare;
pub use latency_histogram::LatencyHistogram;
