//! Client connections: listeners, transports, the guard in front of hyper, timeouts, access log.

#![forbid(unsafe_code)]

mod accept;
mod connection_permits;
mod connections;
mod failures;
mod parts;
mod readiness;
mod request;
mod server;
mod sockets;
mod steps;
mod time_limits;
mod tunnels;

pub use accept::accept;
pub use failures::Failures;
pub use parts::{
    AdminDoor, AdminResponse, EdgeCore, EdgeEvent, EndedConnection, Farewell, Lends, OtherParts,
    Part, PartList, PartSample, PartStep, PartTask, Protocol, ProtocolConnection, ProtocolCore,
    ProtocolEnd, ReplyStep, SampleValue, ServedRequest, ServerLife, ServingProtocol, SlowBody,
    SlowReply, TimeHistogram, admin_refusal, admin_response,
};
pub use readiness::ReadinessPaths;
pub use request::{
    AccessEntry, AccessLog, ArrivedRequest, FinishedRequest, Later, ReplySearch, RequestAnswer,
    RequestContext, RequestDispatch, RequestObserver, RequestSlots, RequestStep, TrackedBody,
    WaitingRequest,
};
pub use server::Server;
pub use sockets::{
    AcceptFailures, ClientStream, ConnectionStart, Handshake, HandshakeEnd, HandshakeWait,
    InheritedListener, Listener, Listeners, StartEnd, Transport, WrappedStream, bind_all,
    bind_everywhere,
};
pub use time_limits::{
    ActiveConnections, ActiveEnd, ActiveGuard, Deadline, Deadlines, PhaseTimeouts, TICK,
};
pub use tunnels::{Application, TunnelClient, TunnelEnd, TunnelEnds, serve_tunnel};
