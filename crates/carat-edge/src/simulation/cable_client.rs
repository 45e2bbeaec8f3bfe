use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::simulation::plan::CableMessage;
use crate::simulation::processes::ProcessTable;
use carat_cable::{Cable, CablePart, CableSocket, CommandResult};
use carat_exchange::Peer;
use carat_http::{EdgeCore, Part, PartList, Server};

/// How long a client waits for its own messages, in microseconds. Each of them may have to wait in the queue and in a
/// worker.
const PATIENCE: u64 = 60_000_000;
/// The application's response to a handshake.
const WELCOME: &[u8] = br#"{"connection": "c", "send": ["{}"]}"#;

/// The parts with a cable that the clients of the simulation can reach directly.
pub(super) fn with_own_cable(parts: PartList, core: &EdgeCore) -> (PartList, Rc<Cable>) {
    let cable = Cable::new(core).expect("the option is set");
    let own = |part: Box<dyn Part>| -> Box<dyn Part> {
        if part.name() == "cable" {
            Box::new(CablePart::new(Rc::clone(&cable), &core.settings))
        } else {
            part
        }
    };
    let parts = parts.into_iter().map(own).collect();
    (parts, cable)
}

/// A client of the cable: it subscribes to a room, talks, and listens.
pub(super) struct CableClient {
    world: Rc<ProcessTable>,
    server: Rc<Server>,
    cable: Rc<Cable>,
    /// The index of the client among all clients of the cable.
    index: usize,
    identifier: &'static str,
    received: Vec<u8>,
    unsent: Vec<u8>,
    is_subscribed: bool,
    /// How many messages the client has sent to the room, and how many of them it has heard.
    said: u64,
    heard: u64,
}

impl CableClient {
    pub(super) fn new(
        world: &Rc<ProcessTable>,
        server: &Rc<Server>,
        cable: &Rc<Cable>,
    ) -> CableClient {
        CableClient {
            index: world.cable.borrow_mut().join(),
            identifier: world.random.pick(&["a", "b"]),
            world: Rc::clone(world),
            server: Rc::clone(server),
            cable: Rc::clone(cable),
            received: Vec::new(),
            unsent: Vec::new(),
            is_subscribed: false,
            said: 0,
            heard: 0,
        }
    }

    /// Sends and receives until it has received all of its own messages, or the server ends the connection.
    pub(super) async fn run(mut self) {
        let world = Rc::clone(&self.world);
        let _connection = self.server.connect().await;
        world
            .pause(world.random.below(world.scenario.calm_at))
            .await;
        let result = CommandResult::parse(WELCOME).expect("a result");
        let client = carat_cable::SocketClient {
            peer: Rc::new(Peer::new("127.0.0.1".to_owned(), false, 80, None)),
            memory: self.server.client_memory().account(),
        };
        let mut socket = CableSocket::open(&self.cable, result, None, client);
        let mut patience = PATIENCE;
        while !world.is_stopping.get() {
            let think = world.random.between(1000, 200_000);
            tokio::select! {
                biased;
                is_open = self.listen(&mut socket) => if !is_open { return },
                () = world.pause(think) => {
                    if let Some(text) = self.next_command() {
                        self.say(&text);
                    } else if self.heard == self.said {
                        return;
                    } else if patience < think {
                        return world.cable.borrow_mut().miss(self.said - self.heard);
                    } else {
                        patience -= think;
                    }
                }
            }
            if world.random.chance(30) {
                world.pause(world.random.below(1_000_000)).await;
            }
        }
    }

    /// The next command that the client sends, if it has one.
    fn next_command(&mut self) -> Option<String> {
        if !self.is_subscribed {
            let subscribe = json!({ "command": "subscribe", "identifier": self.identifier });
            return Some(subscribe.to_string());
        }
        if self.said == self.world.scenario.messages {
            return None;
        }
        self.said += 1;
        self.world.note("says", self.index as u64, self.said);
        let filler = "x".repeat(self.world.scenario.filler);
        let data = format!("{}.{} {filler}", self.index, self.said);
        let message = json!({ "command": "message", "identifier": self.identifier, "data": data });
        Some(message.to_string())
    }

    /// Begins to send a text, in a frame whose mask is zero.
    fn say(&mut self, text: &str) {
        let length = u16::try_from(text.len()).expect("small").to_be_bytes();
        match length {
            [0, ..126] => self.unsent.extend([0x81, 0x80 | length[1]]),
            _ => self.unsent.extend([0x81, 0xfe, length[0], length[1]]),
        }
        self.unsent.extend([0; 4]);
        self.unsent.extend(text.as_bytes());
    }

    /// Reads the bytes that have arrived, and sends meanwhile. False when the server has closed the socket.
    async fn listen(&mut self, socket: &mut CableSocket) -> bool {
        let mut bytes = [0; 16 * 1024];
        let mut room = ReadBuf::new(&mut bytes);
        let read = poll_fn(|cx| {
            while !self.unsent.is_empty() {
                let Poll::Ready(sent) = Pin::new(&mut *socket).poll_write(cx, &self.unsent) else {
                    break;
                };
                self.unsent.drain(..sent.unwrap_or_default());
            }
            Pin::new(&mut *socket).poll_read(cx, &mut room)
        });
        let is_open = read.await.is_ok() && !room.filled().is_empty();
        self.received.extend_from_slice(room.filled());
        while let Some(text) = take_text(&mut self.received) {
            let message: Value = serde_json::from_slice(&text).expect("a message of the server");
            self.take(&message);
        }
        is_open && self.received.first() != Some(&0x88)
    }

    fn take(&mut self, message: &Value) {
        self.is_subscribed |= message["type"] == "confirm_subscription";
        let Some(message) = message["message"].as_str().and_then(CableMessage::parse) else {
            return;
        };
        self.world
            .note("hears", message.client as u64, message.number);
        self.heard += u64::from(message.client == self.index);
        if !self.world.cable.borrow_mut().hear(self.index, message) {
            self.world
                .violate(format!("client {} hears {message:?}", self.index));
        }
    }
}

/// Takes the text of the first frame, once it is complete.
fn take_text(received: &mut Vec<u8>) -> Option<Vec<u8>> {
    let (begin, length) = match *received.first_chunk()? {
        [0x81, 126, high, low] => (4, usize::from(u16::from_be_bytes([high, low]))),
        [0x81, 127, ..] => {
            let length = received.get(2..10)?.try_into().expect("eight bytes");
            (
                10,
                usize::try_from(u64::from_be_bytes(length)).expect("small"),
            )
        }
        [0x81, length, ..] => (2, usize::from(length)),
        _ => return None,
    };
    let text = received.get(begin..begin + length)?.to_vec();
    received.drain(..begin + length);
    Some(text)
}
