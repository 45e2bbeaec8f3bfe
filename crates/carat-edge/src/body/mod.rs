//! Bodies of requests and responses.

pub(crate) mod request;
pub(crate) mod response;
