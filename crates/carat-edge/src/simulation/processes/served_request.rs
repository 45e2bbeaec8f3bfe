use std::os::fd::BorrowedFd;

use carat_lane::{
    BodyPieces, BodyStatus, CurrentRequest, HeadEncoder, LaneSession, OutgoingBody, Progress, Step,
    StreamEnd,
};

use crate::simulation::plan::{
    CableCommand, CrashPoint, RequestScript, ScriptedBody, ScriptedResponse,
};
use crate::simulation::world::World;
use carat_exchange::clock;

/// A request that the application serves.
#[derive(Debug)]
pub(crate) struct ServedRequest {
    number: usize,
    command: Option<CableCommand>,
    script: RequestScript,
    current: CurrentRequest,
    stage: ServedStage,
    /// How many bytes of the streamed body the application has read.
    read: usize,
}

#[derive(Debug)]
enum ServedStage {
    /// The application works until this time, in microseconds.
    Working(u64),
    Reading,
    /// The next piece is sent at `next_at`, in microseconds.
    Streaming {
        sent: usize,
        next_at: u64,
    },
    /// The request has its response, and keeps its slot until this time, in microseconds.
    Lingering(u64),
}

/// The progress of a request after it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceStep {
    /// The request continues at this time, in microseconds.
    WaitsUntil(u64),
    WaitsForEdge,
    /// The request has its response, and its thread lingers until this time.
    LingersUntil(u64),
    Over,
    Crashed,
}

/// The body of a response, with the bytes that the client expects.
pub(crate) struct PatternBody(Vec<u8>);

impl BodyPieces for PatternBody {
    fn bytes(&self) -> u32 {
        u32::try_from(self.0.len()).expect("small")
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&self.0[..])
    }
}

/// The bytes of a body of request `number`, in either direction.
pub(crate) fn pattern(number: usize, length: usize) -> Vec<u8> {
    let byte = u8::try_from(number % 251).expect("small");
    vec![byte; length]
}

impl ServedRequest {
    /// A request that the application begins.
    pub(crate) fn new(
        (number, command): (usize, Option<CableCommand>),
        script: RequestScript,
        current: CurrentRequest,
        now: u64,
    ) -> ServedRequest {
        ServedRequest {
            stage: ServedStage::Working(now + script.work),
            number,
            command,
            script,
            current,
            read: 0,
        }
    }

    /// Whether the request keeps its thread while the application works.
    pub(crate) fn computes(&self) -> bool {
        self.script.computes && matches!(self.stage, ServedStage::Working(_))
    }

    /// Continues the request as far as possible.
    pub(crate) fn run(
        &mut self,
        session: &mut LaneSession,
        head: &mut HeadEncoder,
        socket: BorrowedFd<'_>,
        world: &World,
    ) -> ServiceStep {
        if let ServedStage::Working(until) = self.stage {
            if world.now() < until {
                return ServiceStep::WaitsUntil(until);
            }
            self.stage = ServedStage::Reading;
        }
        if let ServedStage::Lingering(until) = self.stage {
            return if world.now() < until {
                ServiceStep::LingersUntil(until)
            } else {
                ServiceStep::Over
            };
        }
        if let ServedStage::Reading = self.stage {
            if !self.read_body(session, socket, world) {
                return ServiceStep::WaitsForEdge;
            }
            if self.script.crash == Some(CrashPoint::Response) {
                return ServiceStep::Crashed;
            }
            let is_streamed = self.respond(session, head);
            if self.script.crash == Some(CrashPoint::Flush) {
                return ServiceStep::Crashed;
            }
            if !is_streamed {
                session.relieve(socket).expect("an open socket");
                return self.linger(world);
            }
            let next_at = world.now();
            self.stage = ServedStage::Streaming { sent: 0, next_at };
        }
        self.stream(session, socket, world)
    }

    /// Reads the streamed body. False while the rest of it has not arrived.
    fn read_body(
        &mut self,
        session: &mut LaneSession,
        socket: BorrowedFd<'_>,
        world: &World,
    ) -> bool {
        let ScriptedBody::Stream { length, sent } = self.script.body else {
            return true;
        };
        while self.script.reads_body {
            let status = session.await_body(socket, self.current.id);
            let Step::Done(status) = status.expect("the edge sends what a lane expects") else {
                return false;
            };
            match status {
                Some(BodyStatus::Bytes) => self.consume(session, world),
                Some(BodyStatus::Complete) => {
                    let is_whole = self.read == length && sent == length;
                    let mut ledger = world.ledger.borrow_mut();
                    ledger.check(is_whole, self.number, "has a body that only looks complete");
                    return true;
                }
                _ => return true,
            }
        }
        true
    }

    fn consume(&mut self, session: &mut LaneSession, world: &World) {
        let Some(body) = session.body(self.current.id) else {
            return;
        };
        let bytes = body.peek();
        let is_expected = bytes == pattern(self.number, bytes.len());
        let count = bytes.len();
        body.consume(count);
        self.read += count;
        let mut ledger = world.ledger.borrow_mut();
        ledger.check(is_expected, self.number, "has the body of another request");
    }

    /// Responds. Returns whether the body follows in pieces.
    fn respond(&self, session: &mut LaneSession, head: &mut HeadEncoder) -> bool {
        head.start(200).expect("a valid status");
        if let Some(command) = &self.command {
            let kind = b"application/vnd.carat.cable+json";
            head.add(b"content-type", kind).expect("valid");
            let body = OutgoingBody::Inline(PatternBody(command.result()));
            return session.respond(self.current, head, body, clock::now());
        }
        let name = self.number.to_string();
        head.add(b"x-request", name.as_bytes()).expect("valid");
        let body = match self.script.response {
            ScriptedResponse::Empty => OutgoingBody::Empty,
            ScriptedResponse::Inline(length) => {
                OutgoingBody::Inline(PatternBody(pattern(self.number, length)))
            }
            ScriptedResponse::Stream { .. } => OutgoingBody::Stream,
            ScriptedResponse::Invalid => {
                head.add(b"content-length", b"7, 8")
                    .expect("passes the worker");
                OutgoingBody::Stream
            }
        };
        session.respond(self.current, head, body, clock::now())
    }

    /// Sends pieces of a streamed body.
    fn stream(
        &mut self,
        session: &mut LaneSession,
        socket: BorrowedFd<'_>,
        world: &World,
    ) -> ServiceStep {
        let (length, pause, breaks_off) = match self.script.response {
            ScriptedResponse::Stream {
                length,
                pause,
                breaks_off,
            } => (length, pause, breaks_off),
            _ => (0, 0, false),
        };
        let ServedStage::Streaming { sent, next_at } = &mut self.stage else {
            return ServiceStep::Over;
        };
        while *sent < length && !(breaks_off && *sent >= length / 2) {
            if world.now() < *next_at {
                return ServiceStep::WaitsUntil(*next_at);
            }
            let piece = pattern(self.number, (length - *sent).min(100_000));
            let progress = session.send_piece(socket, self.current.id, &piece);
            match progress.expect("the edge sends what a lane expects") {
                Step::Done(Progress::Sent(count)) => {
                    *sent += count;
                    *next_at = world.now() + pause;
                    world.ledger.borrow_mut().stream(self.number, count);
                }
                Step::Done(Progress::Gone) => {
                    session.end_stream(self.current.id, StreamEnd::Aborted);
                    return ServiceStep::Over;
                }
                Step::Wait(_) | Step::Yield => return ServiceStep::WaitsForEdge,
            }
        }
        let end = if breaks_off {
            StreamEnd::Aborted
        } else {
            StreamEnd::Complete
        };
        session.end_stream(self.current.id, end);
        self.linger(world)
    }

    /// Lets the application run on after its response, or ends the request.
    fn linger(&mut self, world: &World) -> ServiceStep {
        let until = world.now() + self.script.lingers;
        self.stage = ServedStage::Lingering(until);
        match self.script.lingers {
            0 => ServiceStep::Over,
            _ => ServiceStep::LingersUntil(until),
        }
    }
}
