//! The vocabulary of one request, shared by every room above: the call, the reply, the bodies of
//! both, the refusal, what clients hold in memory, and the two ends of the connection.

mod accepts_html;
mod body_stream;
mod call;
mod client_memory;
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

pub(crate) use accepts_html::accepts_html;
pub(crate) use body_stream::{BodyReaders, BodySender, BodySink, BodyStream, body_stream};
pub(crate) use call::{Call, CallBody};
pub(crate) use client_memory::{ClientMemory, MemoryAccount, MemoryTicket};
pub(crate) use connection_state::{ConnectionPhase, ConnectionState, ReadProgress};
pub(crate) use inline_bytes::InlineBytes;
pub(crate) use memory_reservation::MemoryReservation;
pub(crate) use outgoing_file::{FilePlaceholder, OUTGOING_LIMIT, OutgoingFile};
pub(crate) use peer::Peer;
pub(crate) use proxy_policy::{ProxyFields, ProxyPolicy};
pub(crate) use refusal::Refusal;
pub(crate) use reply::Reply;
pub(crate) use reply_body::{FileRange, ReplyBody, ReplyContent};
pub(crate) use reply_stream::{ReplySender, ReplySource, ReplyStream, reply_stream};
pub(crate) use request_target::RequestTarget;
pub(crate) use spool::{Spool, SpoolFile};
pub(crate) use spool_quota::{SpoolQuota, SpoolReservation};
pub(crate) use stream_credit::StreamCredit;
pub(crate) use tunnel::{Takeover, Tunnel, TunnelLog};
pub(crate) use worker_tunnels::{TunnelPlace, WorkerTunnels};
