use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::task::Waker;

use crate::supervise::FreshSettings;
use carat_supervisor::{ExitStatus, MemorySubjects};

/// An event that is scheduled for a time.
#[derive(Debug)]
pub(crate) enum Moment {
    /// The pause of a client is over.
    Wake(Waker),
    /// The supervisor's tick.
    Tick,
    /// A process has something to do, or a message.
    Process(u32),
    /// A lane of a process has something to do, or a message.
    Lane(u32, u16),
    /// A stopped process continues.
    Continue(u32),
    /// SIGKILL reaches a process.
    Kill(u32),
    /// The edge reaps a process.
    Reap(u32, ExitStatus),
    /// The memory of these processes has been read.
    MemoryRead(MemorySubjects),
    /// New code is to take over.
    Restart,
    /// The configuration has been read, or cannot be.
    SettingsRead(Result<FreshSettings, String>),
    /// A fault is injected.
    Fault,
    /// There are no faults from now on.
    Calm,
    /// The server is told to stop.
    Stop,
    /// The edge continues after it stood still.
    EdgeContinues,
}

/// The planned moments, in the order of time and, at the same time, in the order in which they were planned.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    queue: RefCell<BinaryHeap<Reverse<Appointment>>>,
    count: Cell<u64>,
}

#[derive(Debug)]
struct Appointment {
    at: u64,
    number: u64,
    moment: Moment,
}

impl Schedule {
    /// Plans a moment at a time in microseconds.
    pub(crate) fn add(&self, at: u64, moment: Moment) {
        let number = self.count.get();
        self.count.set(number + 1);
        let appointment = Appointment { at, number, moment };
        self.queue.borrow_mut().push(Reverse(appointment));
    }

    /// The time of the next moment.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.queue.borrow().peek().map(|Reverse(next)| next.at)
    }

    /// Takes the next moment.
    pub(crate) fn take(&self) -> Option<Moment> {
        self.queue
            .borrow_mut()
            .pop()
            .map(|Reverse(next)| next.moment)
    }
}

impl Appointment {
    fn key(&self) -> (u64, u64) {
        (self.at, self.number)
    }
}

impl Ord for Appointment {
    fn cmp(&self, other: &Appointment) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Appointment {
    fn partial_cmp(&self, other: &Appointment) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Appointment {
    fn eq(&self, other: &Appointment) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Appointment {}
