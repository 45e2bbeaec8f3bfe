//! How many requests each client address may send: the option `rate_limit`.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use carat_rate_limit::{ClientRates, Rate};
//!
//! let start = Instant::now();
//! let rates = ClientRates::new(Rate { requests: 2, period: Duration::from_secs(1) }, start);
//! let client = [192, 0, 2, 1].into();
//! assert_eq!(rates.take(client, start), Ok(()));
//! assert_eq!(rates.take(client, start), Ok(()));
//! assert_eq!(rates.take(client, start), Err(Duration::from_millis(500)));
//! assert_eq!(rates.take(client, start + Duration::from_millis(500)), Ok(()));
//! ```

#![forbid(unsafe_code)]

mod client_rates;
mod part;

pub use client_rates::{ClientRates, Rate};
pub use part::part;
