//! The environment of the simulated processes: time, chance, sockets, and the ledger of all requests.

pub(crate) mod wire;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::mem::replace;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use carat_lane::AppOrder;
use tokio::task::AbortHandle;

use crate::simulation::plan::{
    Answer, CableLedger, ConsoleLedger, Ledger, LedgerTimeouts, Moment, Scenario, Schedule,
    SeededRandom, Trace,
};
use crate::simulation::world::wire::{FarEnd, Wires};
use crate::supervise::{Mailbox, Message};
use carat_exchange::clock;
use carat_settings::Settings;
use carat_supervisor::{Event, ExitStatus};

/// Everything around the edge: time, processes, clients, and faults.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) settings: Rc<Settings>,
    pub(crate) scenario: Scenario,
    pub(crate) random: SeededRandom,
    pub(crate) schedule: Schedule,
    pub(crate) ledger: RefCell<Ledger>,
    pub(crate) cable: RefCell<CableLedger>,
    pub(crate) consoles: RefCell<ConsoleLedger>,
    pub(crate) wires: Wires,
    /// Workers that a mold has just forked, with their sockets.
    pub(crate) forked: RefCell<Vec<(u32, Vec<OwnedFd>)>>,
    /// Further processes of the application that a mold has just forked, with their control sockets.
    pub(crate) forked_apps: RefCell<Vec<(u32, AppOrder, OwnedFd)>>,
    /// The number of processes in each group that further processes have forked and left.
    pub(crate) descendants: RefCell<BTreeMap<u32, u32>>,
    pub(crate) trace: Trace,
    pub(crate) is_stopping: Cell<bool>,
    pub(crate) is_calm: Cell<bool>,
    /// The sockets of dead workers, which are kept open by processes that these workers had started.
    pub(crate) orphans: RefCell<Vec<FarEnd>>,
    /// Pauses of the edge: when each began, and how long it took.
    pauses: RefCell<Vec<(u64, u64)>>,
    /// The tasks of the clients.
    clients: RefCell<Vec<AbortHandle>>,
    mailbox: Mailbox,
    start: Instant,
    pids: Cell<u32>,
    pub(crate) oom_kills: Cell<u64>,
    /// How many times workers were told to collect their garbage.
    pub(crate) collections: Cell<u64>,
}

impl World {
    pub(crate) fn new(seed: u64, is_printed: bool, mailbox: Mailbox) -> Rc<World> {
        let random = SeededRandom::new(seed);
        let scenario = Scenario::random(&random);
        let mut settings = Scenario::settings(&random);
        if is_printed {
            settings.log = None;
        }
        Rc::new(World {
            settings: Rc::new(settings),
            is_calm: Cell::new(scenario.trouble == 0),
            scenario,
            random,
            schedule: Schedule::default(),
            ledger: RefCell::default(),
            cable: RefCell::default(),
            consoles: RefCell::default(),
            wires: Wires::default(),
            forked: RefCell::default(),
            forked_apps: RefCell::default(),
            descendants: RefCell::default(),
            trace: Trace::new(is_printed),
            is_stopping: Cell::new(false),
            orphans: RefCell::default(),
            pauses: RefCell::default(),
            clients: RefCell::default(),
            mailbox,
            start: clock::now(),
            pids: Cell::new(1000),
            oom_kills: Cell::new(0),
            collections: Cell::new(0),
        })
    }

    /// Microseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        micros(clock::now().saturating_duration_since(self.start))
    }

    /// Plans a moment this many microseconds from now.
    pub(crate) fn after(&self, delay: u64, moment: Moment) {
        self.schedule.add(self.now() + delay, moment);
    }

    /// Lets a client wait.
    pub(crate) async fn pause(&self, delay: u64) {
        let at = self.now() + delay;
        let mut is_planned = false;
        poll_fn(|cx| {
            if self.now() >= at {
                return Poll::Ready(());
            }
            // The task may be polled before that time.
            if !replace(&mut is_planned, true) {
                self.schedule.add(at, Moment::Wake(cx.waker().clone()));
            }
            Poll::Pending
        })
        .await;
    }

    /// Adds a task of a client.
    pub(crate) fn add_client(&self, task: AbortHandle) {
        self.clients.borrow_mut().push(task);
    }

    /// Ends the tasks of all clients.
    pub(crate) fn abort_clients(&self) {
        self.clients.take().iter().for_each(AbortHandle::abort);
    }

    /// Whether a fault happens now. `of_thousand` is how often it does in a usual run.
    pub(crate) fn fault(&self, of_thousand: u64) -> bool {
        let is_likely = self
            .random
            .chance(of_thousand * self.scenario.trouble / 1000);
        is_likely && !self.is_calm.get()
    }

    /// How long it takes until a process notices what the edge did, in microseconds.
    pub(crate) fn latency(&self) -> u64 {
        self.random.pick(&[0, 0, 5, 50, 300])
    }

    pub(crate) fn note(&self, event: &'static str, subject: u64, detail: u64) {
        self.trace.note(self.now(), event, subject, detail);
    }

    /// Records a violation.
    pub(crate) fn violate(&self, what: String) {
        self.ledger.borrow_mut().violate(what);
    }

    /// Notes the answer of a request, or that its client left.
    pub(crate) fn answer(&self, number: usize, answer: Answer) {
        let code = match answer {
            Answer::Reply => 200,
            Answer::Refused(refusal) => refusal.status().as_u16().into(),
            Answer::Left => 0,
            Answer::Reset => 1,
        };
        self.note("answer", number as u64, code);
        let mut ledger = self.ledger.borrow_mut();
        let spent = self.spent_since(ledger.sent_at(number));
        let timeouts = LedgerTimeouts {
            request: self.settings.request_timeout.map_or(0, micros),
            queue: micros(self.settings.queue_timeout),
        };
        ledger.answer(number, answer, spent, timeouts);
    }

    /// Notes that the edge stands still from now on, for `duration`.
    pub(crate) fn note_pause(&self, duration: u64) {
        self.note("pause", duration, 0);
        self.pauses.borrow_mut().push((self.now(), duration));
    }

    /// The microseconds since `at`, without the pauses of the edge.
    pub(crate) fn spent_since(&self, at: u64) -> u64 {
        let pauses = self.pauses.borrow();
        let lost = pauses.iter().map(|(begun, duration)| {
            let end = begun + duration;
            end.saturating_sub(at.max(*begun))
        });
        (self.now() - at).saturating_sub(lost.sum())
    }
}

/// The services of the world for its processes.
impl World {
    pub(crate) fn next_pid(&self) -> u32 {
        self.pids.set(self.pids.get() + 1);
        self.pids.get()
    }

    /// The status of a process that was killed.
    pub(crate) fn killed(&self) -> ExitStatus {
        ExitStatus::Signaled {
            signal: rustix::process::Signal::KILL.as_raw(),
            oom_kills: self.oom_kills.get(),
        }
    }

    /// Tells the supervisor what happened.
    pub(crate) fn tell(&self, event: Event) {
        self.mailbox.event(event);
    }

    /// Sends the supervisor a message.
    pub(crate) fn send(&self, message: Message) {
        self.mailbox.send(message);
    }
}

/// A duration in microseconds.
pub(crate) fn micros(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).expect("a run is short")
}
