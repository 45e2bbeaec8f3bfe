//! The fibers that wait, each with what it waits for and what came of it.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::time::Instant;

use rb_sys::VALUE;

/// Names one wait of one fiber, and never another one: the place is used again, but with the next generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ticket {
    place: u32,
    generation: u32,
}

/// Why a wait is over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// `unblock` was called, or it was only a pause.
    Unblocked,
    /// The descriptor is ready for these events.
    Ready(u16),
    /// The time is over.
    TimedOut,
    /// The block of this timeout has taken too long.
    Expired(u64),
    /// The descriptor is about to be closed.
    Closed,
    /// This exception is to be raised.
    Raised(VALUE),
    /// The scheduler ends, and with it everything that waits.
    Cancelled,
}

/// One fiber's wait.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) fiber: VALUE,
    pub(crate) deadline: Option<Instant>,
    /// Whether `unblock` ends it.
    pub(crate) is_block: bool,
    /// The descriptors that are watched for it: most waits are for one, which takes no memory of its own.
    pub(crate) descriptor: Option<RawFd>,
    pub(crate) others: Vec<RawFd>,
    pub(crate) outcome: Option<Outcome>,
}

impl Wait {
    /// A wait that nothing ends yet.
    pub(crate) fn new(fiber: VALUE) -> Wait {
        Wait {
            fiber,
            deadline: None,
            is_block: false,
            descriptor: None,
            others: Vec::new(),
            outcome: None,
        }
    }
}

#[derive(Debug, Default)]
struct Place {
    generation: u32,
    wait: Option<Wait>,
}

/// All waits of a scheduler: as many as it has suspended fibers.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    places: Vec<Place>,
    free: Vec<u32>,
    by_fiber: HashMap<VALUE, Ticket>,
}

impl Waits {
    pub(crate) fn add(&mut self, wait: Wait) -> Ticket {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            u32::try_from(self.places.len() - 1).expect("a process has fewer fibers")
        });
        let entry = &mut self.places[place as usize];
        let ticket = Ticket {
            place,
            generation: entry.generation,
        };
        self.by_fiber.insert(wait.fiber, ticket);
        entry.wait = Some(wait);
        ticket
    }

    pub(crate) fn remove(&mut self, ticket: Ticket) -> Option<Wait> {
        let entry = self.places.get_mut(ticket.place as usize)?;
        if entry.generation != ticket.generation {
            return None;
        }
        let wait = entry.wait.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(ticket.place);
        self.by_fiber.remove(&wait.fiber);
        Some(wait)
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Wait> {
        let entry = self.places.get_mut(ticket.place as usize)?;
        entry
            .wait
            .as_mut()
            .filter(|_| entry.generation == ticket.generation)
    }

    pub(crate) fn get(&self, ticket: Ticket) -> Option<&Wait> {
        let entry = self.places.get(ticket.place as usize)?;
        entry
            .wait
            .as_ref()
            .filter(|_| entry.generation == ticket.generation)
    }

    pub(crate) fn of_fiber(&self, fiber: VALUE) -> Option<Ticket> {
        self.by_fiber.get(&fiber).copied()
    }

    pub(crate) fn tickets(&self) -> Vec<Ticket> {
        self.by_fiber.values().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.places.iter().filter_map(|place| place.wait.as_ref())
    }

    pub(crate) fn len(&self) -> usize {
        self.by_fiber.len()
    }
}
