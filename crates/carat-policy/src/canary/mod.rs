//! Which requests new code gets, and how it compares with the old.

mod canary_rule;
mod drawn_share;
mod even_share;
mod judge;
mod latency_histogram;
mod rank_test;
mod share_test;
mod worker_cost;

pub use canary_rule::{CanaryRule, CanaryUnit};
pub use drawn_share::DrawnShare;
pub use even_share::EvenShare;
pub use judge::{CanaryFinding, CanaryJudge, CanaryVerdict, JudgedCode};
pub use latency_histogram::LatencyHistogram;
pub use worker_cost::WorkerCost;
