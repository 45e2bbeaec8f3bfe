//! A bounded cache of public responses (RFC 9111). Its rules say what may be stored, how long a
//! response is fresh, which requests it answers, and what is evicted first; they need no socket and
//! no clock. [`part()`] makes the cache a part of the edge.
//!
//! ```
//! use std::time::{Instant, SystemTime};
//!
//! use carat_cache::{ExchangeTimes, Exchanged, RequestKey, Store, UrlHost};
//! use http::{HeaderMap, HeaderValue, StatusCode, header::CACHE_CONTROL};
//!
//! let mut store = Store::new(1 << 20);
//! let request = HeaderMap::new();
//! let key = RequestKey::new("https", UrlHost::of(b"example.com", 443), "/", "", &request);
//! let public = HeaderValue::from_static("public, max-age=60");
//! let now = Instant::now();
//! let exchanged = Exchanged {
//!     key: &key,
//!     request: &request,
//!     response: (StatusCode::OK, &HeaderMap::from_iter([(CACHE_CONTROL, public)])),
//!     times: &ExchangeTimes { asked: now, received: now, date: SystemTime::now() },
//! };
//! store.insert(&exchanged, b"hello");
//! assert!(store.find(&key, &request).is_some_and(|entry| entry.body == "hello"));
//! ```

#![forbid(unsafe_code)]

mod directives;
mod entry;
mod freshness;
mod part;
mod pass_list;
mod queues;
mod request_policy;
mod selection;
mod storable;
mod store;
mod validation;

pub use directives::RequestDirectives;
pub use entry::{Refreshing, StoredResponse};
pub use freshness::{CacheVerdict, Freshness};
pub use part::part;
pub use request_policy::{RequestPolicy, is_unsafe};
pub use selection::{RequestKey, UrlHost, url_key};
pub use storable::ExchangeTimes;
pub use store::{Exchanged, Store};
pub use validation::{ask_to_confirm, client_has, confirmed, is_failure};
