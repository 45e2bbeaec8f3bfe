//! How many workers run, which are replaced, and when the next attempt is made.

mod backoff;
mod elastic;
mod load_rule;
mod recycle;
mod refork;
mod replacement_backoff;

pub use backoff::Backoff;
pub use elastic::{Demand, Elastic, WorkerCount};
pub use load_rule::LoadRule;
pub use recycle::{RecycleLimits, ReplacementReason, Retirements};
pub use refork::{ReforkRule, Reforks, WorkerUsage};
pub use replacement_backoff::{ReplacementAdvice, ReplacementBackoff};
