use std::fs::File;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::process::Signal;
use tokio::sync::{mpsc, oneshot};

use crate::simulation::processes::ProcessTable;
use crate::supervise::{Message, OneOffMessage, OneOffOrder, OneOffReport};
use carat_supervisor::{AppEvent, AppProcessId, Event};

/// A client of the control socket that asks for a console, sends it a signal now and then, and may leave before the
/// console ends.
pub(super) struct ConsoleClient {
    world: Rc<ProcessTable>,
    client: usize,
    has_left: bool,
}

impl ConsoleClient {
    pub(super) fn new(world: &Rc<ProcessTable>) -> ConsoleClient {
        ConsoleClient {
            world: Rc::clone(world),
            client: world.consoles.borrow_mut().ask(),
            has_left: false,
        }
    }

    /// Asks for a console, and stays until its end, as `attend` of the control socket does.
    pub(super) async fn run(mut self) {
        let world = Rc::clone(&self.world);
        world
            .pause(world.random.below(world.scenario.calm_at))
            .await;
        let (reports, mut reported) = mpsc::unbounded_channel();
        let stream = || OwnedFd::from(File::open("/dev/null").expect("a device"));
        let order = OneOffOrder {
            name: "console",
            order: self.client.to_string().into_bytes(),
            descriptors: [(); 3].map(|()| stream()).into(),
            reports,
        };
        let (asker, reply) = oneshot::channel();
        world.send(Message::OneOff(OneOffMessage::Open(order, asker)));
        let Ok(Ok(id)) = reply.await else {
            return;
        };
        world.consoles.borrow_mut().accept(self.client);
        loop {
            let think = world.random.between(1000, 1_000_000);
            tokio::select! {
                biased;
                report = reported.recv() => match report {
                    Some(OneOffReport::Begun) => {}
                    Some(OneOffReport::Ended(_)) => return self.end(),
                    None => return,
                },
                () = world.pause(think), if !self.has_left => self.act(id).await,
            }
        }
    }

    /// Sends a signal or leaves, at random. Some clients stay until the server stops.
    async fn act(&mut self, id: AppProcessId) {
        let world = &self.world;
        if world.random.chance(200) {
            let signal = Signal::USR1.as_raw();
            let (done, is_done) = oneshot::channel();
            world.send(Message::OneOff(OneOffMessage::Signal(id, signal, done)));
            // The server may be gone.
            let _ = is_done.await;
        } else if self.client % 2 == 0 && world.random.chance(400) {
            world.note("hangs up", self.client as u64, 0);
            self.has_left = true;
            world.consoles.borrow_mut().leave(self.client);
            world.tell(Event::App(AppEvent::OneOffLeft(id)));
        }
    }

    fn end(&self) {
        let was_present = self.world.consoles.borrow_mut().leave(self.client);
        if was_present == self.has_left {
            let client = self.client;
            let what = format!("client {client} hears twice of the end of its console");
            self.world.violate(what);
        }
    }
}
