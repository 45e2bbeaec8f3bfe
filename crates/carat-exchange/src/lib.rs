//! The vocabulary of one request, shared by every room above: the call, the reply, the bodies of
//! both, the refusal, what clients hold in memory, and the two ends of the connection.

mod accepts_html;
mod body_stream;
mod call;
mod client_memory;
pub mod clock;
mod connection_state;
mod forwarded_client;
mod hint_sink;
mod inline_bytes;
mod interim_responses;
mod memory_reservation;
mod outgoing_file;
mod peer;
mod proxy_policy;
mod refusal;
mod reply;
mod reply_body;
mod reply_stream;
mod request_target;
mod spool;
mod spool_quota;
mod stream_credit;
mod tunnel;
mod worker_tunnels;

pub use accepts_html::accepts_html;
pub use body_stream::{BodyReaders, BodySender, BodySink, BodyStream, body_stream};
pub use call::{Call, CallBody};
pub use client_memory::{ClientMemory, MemoryAccount, MemoryTicket};
pub use connection_state::{ConnectionPhase, ConnectionState, ReadProgress};
pub use inline_bytes::InlineBytes;
pub use memory_reservation::MemoryReservation;
pub use outgoing_file::{FilePlaceholder, OUTGOING_LIMIT, OutgoingFile};
pub use peer::Peer;
pub use proxy_policy::{ProxyFields, ProxyPolicy};
pub use refusal::Refusal;
pub use reply::Reply;
pub use reply_body::{FileRange, ReplyBody, ReplyContent};
pub use reply_stream::{ReplySender, ReplySource, ReplyStream, reply_stream};
pub use request_target::RequestTarget;
pub use spool::{Spool, SpoolFile};
pub use spool_quota::{SpoolQuota, SpoolReservation};
pub use stream_credit::StreamCredit;
pub use tunnel::{Takeover, Tunnel, TunnelLog};
pub use worker_tunnels::{TunnelPlace, WorkerTunnels};
