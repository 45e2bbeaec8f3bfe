//! The cache of public responses: the option `cache`.

mod cached_reply;
mod changes;
mod counts;
mod flights;
mod forward;
mod lookup;
mod response_cache;

pub(crate) use changes::ChangedUrl;
pub use counts::CacheReport;
pub use response_cache::ResponseCache;
