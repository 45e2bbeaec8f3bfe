//! The clock of everything that has a timeout.

use std::time::Instant;

/// The time on the clock. Tests can stop this clock and move it, with `tokio::time`; nothing else differs from
/// `Instant::now`.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
