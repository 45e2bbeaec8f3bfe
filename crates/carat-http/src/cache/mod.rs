//! The cache of public responses: the option `cache`.

mod cached_reply;
mod changes;
mod counts;
mod flights;
mod forward;
mod lookup;
mod response_cache;

pub(crate) use changes::ChangedUrl;
pub(crate) use counts::CacheReport;
pub(crate) use response_cache::ResponseCache;
