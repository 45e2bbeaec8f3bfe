//! The types of one request, shared by every crate above: the call, the reply, the bodies of both, the refusal, the
//! memory that clients hold, and the two ends of the connection.

mod accepts_html;
mod call;
pub mod clock;
mod request_target;
mod tunnel;
mod worker_tunnels;

mod body {
    //! Bodies of requests: in memory, in a file, or still arriving.

    mod body_stream;
    mod inline_bytes;
    mod spool;
    mod spool_quota;

    pub use body_stream::{BodyReaders, BodySender, BodySink, BodyStream, body_stream};
    pub use inline_bytes::InlineBytes;
    pub use spool::{Spool, SpoolFile};
    pub use spool_quota::{SpoolQuota, SpoolReservation};
}

mod client {
    //! The client of a request, and what proxies say of it.

    mod forwarded_client;
    mod peer;
    mod proxy_policy;

    pub(crate) use forwarded_client::ForwardedClient;
    pub use peer::{ClientVariable, Peer};
    pub use proxy_policy::{ProxyFields, ProxyPolicy};
}

mod connection {
    //! The state of one connection, or of one stream of a connection that has several.

    mod body_progress;
    mod client_bytes;
    mod close_state;
    mod connection_state;
    mod message_order;
    mod write_gate;

    pub use body_progress::BodyProgress;
    pub use client_bytes::ClientBytes;
    pub use close_state::CloseState;
    pub use connection_state::{ConnectionPhase, ConnectionState, ReadProgress};
    pub use message_order::MessageOrder;
    pub use write_gate::WriteGate;
}

mod memory {
    //! The memory that clients make the edge hold, and its bound.

    mod client_memory;
    mod memory_reservation;
    mod stream_credit;

    pub use client_memory::{ClientMemory, MemoryAccount, MemoryWait};
    pub use memory_reservation::MemoryReservation;
    pub use stream_credit::StreamCredit;
}

mod response {
    //! Responses: a reply of the application, a refusal, interim responses.

    mod interim_responses;
    mod outgoing_file;
    mod refusal;
    mod reply;
    mod reply_stream;

    pub(crate) use interim_responses::{HintSink, InterimResponses};
    pub use outgoing_file::{FilePlaceholder, OUTGOING_LIMIT, OutgoingFile};
    pub use refusal::{Fault, PartRefusal, Refusal};
    pub use reply::{FileRange, Reply, ReplyBody, ReplyContent, RequestTimes, StoredBody};
    pub use reply_stream::{ReplySender, ReplySource, ReplyStream, reply_stream};
}

pub use accepts_html::accepts_html;
pub use body::{
    BodyReaders, BodySender, BodySink, BodyStream, InlineBytes, Spool, SpoolFile, SpoolQuota,
    SpoolReservation, body_stream,
};
pub use call::{Call, CallBody};
pub use client::{ClientVariable, Peer, ProxyFields, ProxyPolicy};
pub use connection::{
    BodyProgress, ClientBytes, CloseState, ConnectionPhase, ConnectionState, MessageOrder,
    ReadProgress, WriteGate,
};
pub use memory::{ClientMemory, MemoryAccount, MemoryReservation, MemoryWait, StreamCredit};
pub use request_target::RequestTarget;
pub use response::{
    Fault, FilePlaceholder, FileRange, OUTGOING_LIMIT, OutgoingFile, PartRefusal, Refusal, Reply,
    ReplyBody, ReplyContent, ReplySender, ReplySource, ReplyStream, RequestTimes, StoredBody,
    reply_stream,
};
pub use tunnel::{EdgeApplication, Takeover, Tunnel, TunnelApplication, TunnelLog};
pub use worker_tunnels::{TunnelPlace, WorkerTunnels};
