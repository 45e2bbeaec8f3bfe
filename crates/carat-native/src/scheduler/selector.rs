//! Which tickets wait for which descriptors, on one epoll instance.
//!
//! A descriptor stays registered and is armed for one event at a time (`EPOLLONESHOT`), so a wait costs one
//! `epoll_ctl`, and that tells when the number has come to mean another file since: closed descriptors leave
//! epoll by themselves, and what a copy in another process keeps there speaks for an old generation.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

use super::batch::Batch;
use super::waits::Ticket;
use crate::waker;

/// The data of the waker's events; those of descriptors have the number in the lower half.
const WAKER: u64 = u64::MAX;

/// `IO::PRIORITY`, as `poll` and epoll number it too.
pub(crate) const PRIORITY: u16 = 2;

/// What is told of a descriptor even if nobody asks.
const BROKEN: EventFlags = EventFlags::ERR.union(EventFlags::HUP);

/// What became of the wish to be woken by a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    Armed,
    /// A regular file, which epoll does not take.
    AlwaysReady,
}

/// What is known of one descriptor's number; there are as many as the highest number that was waited for.
#[derive(Debug, Default)]
struct Interest {
    generation: u32,
    is_registered: bool,
    waiters: Vec<(Ticket, u16)>,
}

/// The epoll instance, its waker and the interests.
#[derive(Debug)]
pub(crate) struct Selector {
    epoll: Arc<OwnedFd>,
    waker: Arc<OwnedFd>,
    interests: Vec<Interest>,
    waiters: usize,
}

impl Selector {
    pub(crate) fn open() -> Result<Selector, Errno> {
        let (epoll, waker) = (epoll::create(CreateFlags::CLOEXEC)?, waker::new()?);
        let edges = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &waker, EventData::new_u64(WAKER), edges)?;
        Ok(Selector {
            epoll: Arc::new(epoll),
            waker: Arc::new(waker),
            interests: Vec::new(),
            waiters: 0,
        })
    }

    pub(crate) fn waker(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }

    /// The epoll instance and the waker, for a wait during which others may use the selector.
    pub(crate) fn descriptors(&self) -> (Arc<OwnedFd>, Arc<OwnedFd>) {
        (self.epoll.clone(), self.waker.clone())
    }

    /// Whether anything but the waker can be heard.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiters == 0
    }

    /// Whether this number was watched when it was last waited for.
    pub(crate) fn is_registered(&self, number: RawFd) -> bool {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let interest = self.interests.get(place);
        interest.is_some_and(|interest| interest.is_registered)
    }

    /// Has the ticket woken when the descriptor is ready for one of `events`, as `poll` numbers them.
    pub(crate) fn watch(
        &mut self,
        number: RawFd,
        ticket: Ticket,
        events: u16,
    ) -> Result<Watch, Errno> {
        let place = usize::try_from(number).map_err(|_| Errno::BADF)?;
        if self.interests.len() <= place {
            self.interests.resize_with(place + 1, Interest::default);
        }
        self.interests[place].waiters.push((ticket, events));
        let armed = self.arm(number, place);
        if armed == Ok(()) {
            self.waiters += 1;
            return Ok(Watch::Armed);
        }
        self.interests[place].waiters.pop();
        match armed {
            Err(Errno::PERM) => Ok(Watch::AlwaysReady),
            Err(errno) => Err(errno),
            Ok(()) => Ok(Watch::Armed),
        }
    }

    /// The ticket waits no more. The descriptor stays armed: disarming would cost what one idle wake-up costs.
    pub(crate) fn unwatch(&mut self, number: RawFd, ticket: Ticket) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(interest) = self.interests.get_mut(place) else {
            return;
        };
        let before = interest.waiters.len();
        interest.waiters.retain(|(waiter, _)| *waiter != ticket);
        self.waiters -= before - interest.waiters.len();
    }

    /// Takes all tickets off a descriptor that is about to be closed.
    pub(crate) fn forget(&mut self, number: RawFd) -> Vec<Ticket> {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(interest) = self.interests.get_mut(place) else {
            return Vec::new();
        };
        if std::mem::take(&mut interest.is_registered) {
            // A descriptor that was closed unseen has left already.
            // SAFETY: only the number is used, and the kernel checks it.
            let _ = epoll::delete(&self.epoll, unsafe { BorrowedFd::borrow_raw(number) });
        }
        self.waiters -= interest.waiters.len();
        let waiters = std::mem::take(&mut interest.waiters);
        waiters.into_iter().map(|(ticket, _)| ticket).collect()
    }

    /// Hands each ticket that these events wake to `wake`, with what it waited for and got.
    pub(crate) fn deal(&mut self, batch: &Batch, mut wake: impl FnMut(Ticket, u16)) {
        for event in batch.events() {
            let (data, flags) = (event.data.u64(), event.flags);
            if data != WAKER {
                self.deal_one(data, flags, &mut wake);
            }
        }
    }

    fn deal_one(&mut self, data: u64, flags: EventFlags, wake: &mut impl FnMut(Ticket, u16)) {
        let (number, generation) = parts(data);
        let place = number as usize;
        let Some(interest) = self.interests.get_mut(place) else {
            return;
        };
        if interest.generation != generation {
            return;
        }
        let before = interest.waiters.len();
        interest.waiters.retain(|&(ticket, events)| {
            let ready = met(events, flags);
            if ready != 0 {
                wake(ticket, ready);
            }
            ready == 0
        });
        let rest = interest.waiters.len();
        self.waiters -= before - rest;
        // The kernel would tell those who wait for urgent data of a hang-up at once, and again.
        if rest > 0 && !flags.intersects(BROKEN) {
            self.rearm(place);
        }
    }

    /// The others on the same descriptor go on waiting; if that cannot be, they learn it from their own call.
    fn rearm(&mut self, place: usize) {
        if let Ok(number) = RawFd::try_from(place) {
            let _ = self.arm(number, place);
        }
    }

    fn arm(&mut self, number: RawFd, place: usize) -> Result<(), Errno> {
        let interest = &mut self.interests[place];
        let wanted = interest.waiters.iter().fold(0, |all, (_, one)| all | one);
        let flags = EventFlags::from_bits_retain(wanted.into()) | EventFlags::ONESHOT;
        // SAFETY: only the number is used, and the kernel checks it.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        if interest.is_registered {
            let data = EventData::new_u64(joined(place, interest.generation));
            match epoll::modify(&self.epoll, descriptor, data, flags) {
                Err(Errno::NOENT) => {}
                done => return done,
            }
        }
        interest.generation = interest.generation.wrapping_add(1);
        let data = EventData::new_u64(joined(place, interest.generation));
        let added = epoll::add(&self.epoll, descriptor, data, flags);
        interest.is_registered = added.is_ok();
        added
    }
}

/// The part of `events` that `flags` meet. Whoever waits for more than urgent data is told of an error or a hang-up.
fn met(events: u16, flags: EventFlags) -> u16 {
    let told = events & u16::try_from(flags.bits() & 0xFFFF).unwrap_or_default();
    if flags.intersects(BROKEN) {
        return told | events & !PRIORITY;
    }
    told
}

fn joined(place: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | (place as u64 & 0xFFFF_FFFF)
}

fn parts(data: u64) -> (u32, u32) {
    let number = u32::try_from(data & 0xFFFF_FFFF).unwrap_or(u32::MAX);
    let generation = u32::try_from(data >> 32).unwrap_or(u32::MAX);
    (number, generation)
}
