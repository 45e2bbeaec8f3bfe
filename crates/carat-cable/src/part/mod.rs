//! Action Cable as a part of the edge. The edge owns its `WebSockets`, and sends the application
//! each command of a client as a request.

mod broadcast_requests;
mod cable_handshake;
mod cable_history;
mod cable_sessions;
mod handshake;
mod message_deadline;
mod parting;
mod pings;
mod server;
mod socket;
mod socket_client;

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use serde_json::{Value, json};

use broadcast_requests::BROADCAST_PATH;
use cable_handshake::CableHandshake;
use carat_exchange::{Refusal, Reply};
use carat_http::{
    AdminDoor, AdminResponse, ArrivedRequest, EdgeCore, Farewell, Part, PartSample, PartStep,
    ReplyStep, RequestContext, SlowReply,
};
use carat_settings::Settings;

pub use server::Cable;
pub use socket::CableSocket;
pub use socket_client::SocketClient;

/// The time within which all clients are asked to connect again, one after the other.
const CLOSING_WINDOW: Duration = Duration::from_secs(1);

/// The sockets of Action Cable: the option `cable`.
pub struct CablePart {
    cable: Rc<Cable>,
    drain_delay: Option<Duration>,
}

/// The part; `None` without the option `cable`.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    let cable = Cable::new(core)?;
    Some(Box::new(CablePart::new(cable, &core.settings)))
}

impl CablePart {
    /// The part with these sockets.
    pub fn new(cable: Rc<Cable>, settings: &Settings) -> CablePart {
        CablePart {
            cable,
            drain_delay: settings.drain_delay,
        }
    }
}

impl Part for CablePart {
    fn name(&self) -> &'static str {
        "cable"
    }

    fn answer(&self, request: &mut ArrivedRequest, context: &mut RequestContext) -> PartStep {
        match self.cable.ask_for_socket(request, context) {
            ControlFlow::Break(answer) => PartStep::Answer(answer),
            ControlFlow::Continue(()) => PartStep::Next,
        }
    }

    /// Opens the socket if the application lets the client in.
    fn reply<'a>(
        &'a self,
        reply: &'a mut Result<Reply, Refusal>,
        context: &'a mut RequestContext,
    ) -> Option<SlowReply<'a>> {
        let handshake = context.slots.take::<CableHandshake>()?;
        Some(Box::pin(async move {
            // Interim responses must be written first: the socket may be taken over after this.
            poll_fn(|cx| context.state.interim.poll_written(cx)).await;
            if self.cable.open(handshake, reply, context).await {
                ReplyStep::TakenOver
            } else {
                ReplyStep::Next
            }
        }))
    }

    fn tick(&self) {
        self.cable.tick();
    }

    fn leave_clients(&self, farewell: Farewell) {
        self.cable.disconnect_all(match farewell {
            Farewell::TurnsAway => self.drain_delay.unwrap_or(CLOSING_WINDOW),
            Farewell::HandsOver => CLOSING_WINDOW,
            Farewell::Drains(within) => CLOSING_WINDOW.min(within / 2),
        });
    }

    /// Passes on a broadcast of a process of the application. The subject is the name of the
    /// stream.
    fn message(&self, subject: &[u8], content: &[u8]) {
        self.cable.broadcast(subject, content);
    }

    fn report(&self) -> Value {
        json!(self.cable.stats())
    }

    fn samples(&self) -> Vec<PartSample> {
        let stats = self.cable.stats();
        let help = "Time from a broadcast until the last subscriber's task has run";
        let fan_outs = PartSample::times("cable_fan_out", help, &self.cable.fan_outs);
        let gauge = |name, help, value: usize| PartSample::gauge(name, help, value as u64);
        let count = PartSample::counter;
        vec![
            gauge("cable_sockets", "WebSockets of the cable", stats.sockets),
            gauge("cable_streams", "Streams with subscribers", stats.streams),
            count("cable_commands", "Commands of clients", stats.received),
            count(
                "cable_lost_commands",
                "Commands of clients that failed",
                stats.lost,
            ),
            count(
                "cable_broadcasts",
                "Broadcasts of the application and other programs",
                stats.broadcasts,
            ),
            count("cable_messages", "Messages sent to subscribers", stats.sent),
            count(
                "cable_slow_clients",
                "Clients disconnected because they did not read",
                stats.slow,
            ),
            fan_outs,
        ]
    }

    fn admin_paths(&self) -> &'static [&'static str] {
        &[BROADCAST_PATH]
    }

    fn administer<'a>(
        &'a self,
        request: &'a mut Request<Incoming>,
        door: AdminDoor,
    ) -> AdminResponse<'a> {
        Box::pin(self.cable.answer_program(request, door))
    }
}
