//! Bodies on their way in and out.

mod arriving;
mod compressible;
mod dechunk;
mod decode;
mod encode;
mod encoded;
mod encoders;
mod file;
mod form;
mod partial;
mod parts;
mod piece;
mod plain;
mod quota;
mod range;
mod receive;
mod reply;
mod sink;
mod spool;
mod spooler;
mod stream;
mod upload;
mod whole;

pub(crate) use encode::Encode;
pub(crate) use encoders::{Encoders, encoding_threads};
pub(crate) use file::FileBody;
pub(crate) use partial::partial;
pub(crate) use quota::SpoolQuota;
pub(crate) use receive::{receive, receive_nothing};
pub(crate) use reply::ReplyBody;
pub(crate) use spool::Spool;
pub(crate) use stream::{StreamBody, StreamSender, Upstream, stream};
pub(crate) use upload::Progress;
