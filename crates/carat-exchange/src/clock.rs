//! The clock of everything that has a timeout.

use std::time::Instant;

/// The current time. It differs from `Instant::now` only in tests, which can stop this clock and move it with
/// `tokio::time`.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
