//! The vocabulary of one request, shared by every room above: the call, the reply, the bodies of
//! both, the refusal, what clients hold in memory, and the two ends of the connection.

mod accepts_html;
mod body;
mod call;
mod client;
pub mod clock;
mod connection;
mod memory;
mod request_target;
mod response;
mod tunnel;
mod worker_tunnels;

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
    ReplyBody, ReplyContent, ReplySender, ReplySource, ReplyStream, StoredBody, reply_stream,
};
pub use tunnel::{EdgeApplication, Takeover, Tunnel, TunnelApplication, TunnelLog};
pub use worker_tunnels::{TunnelPlace, WorkerTunnels};
