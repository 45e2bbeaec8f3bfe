//! The control socket of a mold or a worker: messages in, messages out.

use std::os::fd::{BorrowedFd, OwnedFd};

use carat_link::{Fill, Flush, Inbox, Outbox};
use carat_wire::Kind;
use carat_wire::control::{
    AskStack, ForkApp, ForkWorker, ONE_OFF_DESCRIPTORS, Sampling, decode_begin_profile,
    decode_promote,
};

use crate::link_error::{self, LinkError};
use crate::step::{Readiness, Step};

/// A message of the edge.
#[derive(Debug)]
pub enum ControlMessage {
    /// Finish the requests that were taken, and then end.
    Drain,
    /// The server ends.
    Bye,
    /// Report the stack of a request.
    AskStack(AskStack),
    /// Report statistics.
    AskStats,
    /// Report whether this worker could become the mold.
    AskForkSafety,
    /// Return free memory to the system.
    TrimMemory,
    /// Run a full garbage collection.
    Collect,
    /// Leave the full garbage collection that is due to Ruby.
    DeclineCollection,
    /// Sample one in a number of allocated bytes.
    BeginProfile(Sampling),
    /// End the profile, and report the samples.
    EndProfile,
    /// Fork a worker, which gets these descriptors: its control socket, then a socket and a page for each lane.
    ForkWorker(ForkWorker, Vec<OwnedFd>),
    /// Fork a further process of the application, which gets this control socket.
    ForkApp(AppOrder, OwnedFd),
    /// Run the application's block.
    Begin,
    /// Run this order of a client, on the client's standard streams.
    OneOff(Vec<u8>, Vec<OwnedFd>),
    /// Become the mold of this generation.
    Promote(u32),
    /// The edge has closed the socket.
    End,
}

/// The order to fork a further process of the application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppOrder {
    /// The name of the block of the config file that the process runs.
    pub name: String,
    /// The number of the process among the processes of its name.
    pub number: u32,
    /// The generation of the mold.
    pub generation: u32,
}

/// The state of one control socket.
#[derive(Debug, Default)]
pub struct ControlSession {
    inbox: Inbox,
    outbox: Outbox,
}

impl ControlSession {
    /// The buffer to append messages to.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.outbox.buffer()
    }

    /// Sends the messages. If the other end of the socket is closed, the messages are dropped, and `receive` reports
    /// the end.
    pub fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<Step<()>, LinkError> {
        match self.outbox.flush(socket) {
            Ok(Flush::Done) => Ok(Step::Done(())),
            Ok(Flush::Blocked) => Ok(Step::Wait(Readiness::Writable)),
            Err(error) if link_error::is_closed(&error) => Ok(Step::Done(())),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives the next message.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<Step<ControlMessage>, LinkError> {
        loop {
            if let Some(message) = self.message()? {
                return Ok(Step::Done(message));
            }
            match self.inbox.fill(socket)? {
                Fill::Bytes { .. } => {}
                Fill::Blocked => return Ok(Step::Wait(Readiness::Readable)),
                Fill::Closed => return Ok(Step::Done(ControlMessage::End)),
            }
        }
    }

    /// Drops the messages that have arrived and were not received, and closes their descriptors.
    pub fn discard(&mut self) {
        self.inbox = Inbox::default();
    }

    fn message(&mut self) -> Result<Option<ControlMessage>, LinkError> {
        let Some(frame) = self.inbox.frames.next()? else {
            return Ok(None);
        };
        let arrived = &mut self.inbox.descriptors;
        let is_first = frame.has_first_descriptor;
        Ok(Some(match frame.kind {
            Kind::Drain => ControlMessage::Drain,
            Kind::Bye => ControlMessage::Bye,
            Kind::AskStats => ControlMessage::AskStats,
            Kind::AskForkSafety => ControlMessage::AskForkSafety,
            Kind::TrimMemory => ControlMessage::TrimMemory,
            Kind::Collect => ControlMessage::Collect,
            Kind::DeclineCollection => ControlMessage::DeclineCollection,
            Kind::BeginProfile => {
                ControlMessage::BeginProfile(decode_begin_profile(frame.payload)?)
            }
            Kind::EndProfile => ControlMessage::EndProfile,
            Kind::AskStack => ControlMessage::AskStack(AskStack::decode(frame.payload)?),
            Kind::Promote => ControlMessage::Promote(decode_promote(frame.payload)?),
            Kind::ForkWorker => {
                let fork = ForkWorker::decode(frame.payload)?;
                let sockets = arrived.take(fork.descriptors(), is_first)?;
                ControlMessage::ForkWorker(fork, sockets.collect())
            }
            Kind::Begin => ControlMessage::Begin,
            Kind::OneOff => {
                let streams = arrived.take(ONE_OFF_DESCRIPTORS, is_first)?;
                ControlMessage::OneOff(frame.payload.to_vec(), streams.collect())
            }
            Kind::ForkApp => {
                let fork = ForkApp::decode(frame.payload)?;
                let order = AppOrder {
                    name: String::from_utf8_lossy(fork.name).into_owned(),
                    number: fork.number,
                    generation: fork.generation,
                };
                let socket = arrived.take(1, is_first)?.next();
                ControlMessage::ForkApp(order, socket.expect("one descriptor was taken"))
            }
            kind => return Err(LinkError::Unexpected(kind)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use carat_wire::control::{encode_promote, encode_signal};

    use super::*;

    /// A session whose edge has sent this, and the worker's end of its socket.
    fn session(send: impl FnOnce(&mut Outbox)) -> (ControlSession, UnixStream, UnixStream) {
        let (socket, edge) = UnixStream::pair().expect("a socket pair");
        let mut outbox = Outbox::default();
        send(&mut outbox);
        assert_eq!(outbox.flush(&edge).expect("open"), Flush::Done);
        (ControlSession::default(), socket, edge)
    }

    fn fork() -> ForkWorker {
        ForkWorker {
            worker: 1,
            generation: 1,
            lanes: 2,
        }
    }

    #[test]
    fn messages_are_received_in_order_and_then_waited_for() {
        let (mut session, socket, edge) = session(|outbox| {
            encode_promote(outbox.buffer(), 7);
            encode_signal(outbox.buffer(), Kind::Collect);
            encode_signal(outbox.buffer(), Kind::Drain);
        });
        let mut receive = || session.receive(socket.as_fd()).expect("well formed");
        assert!(matches!(receive(), Step::Done(ControlMessage::Promote(7))));
        assert!(matches!(receive(), Step::Done(ControlMessage::Collect)));
        assert!(matches!(receive(), Step::Done(ControlMessage::Drain)));
        assert!(matches!(receive(), Step::Wait(Readiness::Readable)));
        drop(edge);
        assert!(matches!(receive(), Step::Done(ControlMessage::End)));
    }

    #[test]
    fn a_fork_brings_the_descriptors_of_the_worker() {
        let (mut session, socket, _edge) = session(|outbox| {
            for _ in 0..fork().descriptors() {
                let (end, _) = UnixStream::pair().expect("a socket pair");
                outbox.attach(end.into());
            }
            fork().encode(outbox.buffer());
        });
        let received = session.receive(socket.as_fd()).expect("well formed");
        let Step::Done(ControlMessage::ForkWorker(received, descriptors)) = received else {
            panic!("no fork: {received:?}");
        };
        assert_eq!((received, descriptors.len()), (fork(), 5));
    }

    #[test]
    fn a_fork_without_its_descriptors_is_an_error() {
        let (mut session, socket, _edge) = session(|outbox| fork().encode(outbox.buffer()));
        let received = session.receive(socket.as_fd());
        assert!(matches!(received, Err(LinkError::Descriptors(_))));
    }

    #[test]
    fn a_frame_of_a_lane_is_an_error() {
        let (mut session, socket, _edge) =
            session(|outbox| carat_wire::stream::encode_end(outbox.buffer(), 1));
        let received = session.receive(socket.as_fd());
        assert!(matches!(received, Err(LinkError::Unexpected(Kind::End))));
    }

    #[test]
    fn a_socket_whose_edge_is_gone_takes_everything() {
        let (mut session, socket, edge) = session(|_| {});
        drop(edge);
        encode_signal(session.buffer(), Kind::Ready);
        let flushed = session.flush(socket.as_fd()).expect("no error");
        assert_eq!(flushed, Step::Done(()));
    }
}
