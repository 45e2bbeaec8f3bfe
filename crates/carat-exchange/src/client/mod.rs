//! The client of a request, and what proxies say of it.

mod forwarded_client;
mod peer;
mod proxy_policy;

pub(crate) use forwarded_client::ForwardedClient;
pub use peer::{ClientVariable, Peer};
pub use proxy_policy::{ProxyFields, ProxyPolicy};
