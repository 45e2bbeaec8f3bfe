//! The waits for descriptors.
//!
//! A descriptor stays registered and is armed for one event at a time, so a wait costs one call of the poller. The
//! call also tells when the number stands for another file: the poller forgets descriptors that are closed, and an
//! event from a copy in another process carries an old generation.

use std::os::fd::RawFd;

use crate::poller::{Armed, PRIORITY, Poller};
use crate::waits::WaitId;

/// The events that are reported even if nobody asks: an error and a hang-up.
const BROKEN: u16 = 0x8 | 0x10;

/// The fibers that wait for a descriptor. There is an entry for each number up to the highest that was waited for.
#[derive(Default)]
struct Interest {
    generation: u32,
    is_registered: bool,
    waiters: Vec<(WaitId, u16)>,
}

/// A poller, and who waits for what on it.
pub struct Selector<P> {
    poller: P,
    interests: Vec<Interest>,
    waiters: usize,
}

impl<P: Poller> Selector<P> {
    pub(crate) fn new(poller: P) -> Selector<P> {
        Selector {
            poller,
            interests: Vec::new(),
            waiters: 0,
        }
    }

    /// The poller.
    pub fn poller(&self) -> &P {
        &self.poller
    }

    /// Whether nobody waits.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiters == 0
    }

    /// Whether this number was registered when it was last waited for.
    pub(crate) fn is_registered(&self, number: RawFd) -> bool {
        let interest = index(number).and_then(|index| self.interests.get(index));
        interest.is_some_and(|interest| interest.is_registered)
    }

    /// Wakes the wait when the descriptor is ready for one of `events`.
    pub(crate) fn watch(
        &mut self,
        number: RawFd,
        wait_id: WaitId,
        events: u16,
    ) -> Result<Armed, P::Error> {
        // The poller refuses a negative number with the right error.
        let Some(index) = index(number) else {
            return self.poller.add(number, 0, events);
        };
        if self.interests.len() <= index {
            self.interests.resize_with(index + 1, Interest::default);
        }
        self.interests[index].waiters.push((wait_id, events));
        let armed = self.arm(number, index);
        if matches!(armed, Ok(Armed::Yes)) {
            self.waiters += 1;
        } else {
            self.interests[index].waiters.pop();
        }
        armed
    }

    /// The wait is over. The descriptor stays armed: disarming costs as much as one spurious event.
    pub(crate) fn unwatch(&mut self, number: RawFd, wait_id: WaitId) {
        let Some(interest) = index(number).and_then(|index| self.interests.get_mut(index)) else {
            return;
        };
        let before = interest.waiters.len();
        interest.waiters.retain(|(waiter, _)| *waiter != wait_id);
        self.waiters -= before - interest.waiters.len();
    }

    /// Takes all waits off a descriptor that is about to be closed.
    pub(crate) fn forget(&mut self, number: RawFd) -> Vec<WaitId> {
        let Some(interest) = index(number).and_then(|index| self.interests.get_mut(index)) else {
            return Vec::new();
        };
        if std::mem::take(&mut interest.is_registered) {
            self.poller.remove(number);
        }
        self.waiters -= interest.waiters.len();
        let waiters = std::mem::take(&mut interest.waiters);
        waiters.into_iter().map(|(wait_id, _)| wait_id).collect()
    }

    /// Calls `wake` with each wait for one of the events of this token, and with the events that it gets.
    pub(crate) fn deliver(&mut self, token: u64, flags: u16, mut wake: impl FnMut(WaitId, u16)) {
        let (index, generation) = parts(token);
        let Some(interest) = self.interests.get_mut(index) else {
            return;
        };
        if interest.generation != generation {
            return;
        }
        let before = interest.waiters.len();
        interest.waiters.retain(|&(wait_id, events)| {
            let ready = met(events, flags);
            if ready != 0 {
                wake(wait_id, ready);
            }
            ready == 0
        });
        let rest = interest.waiters.len();
        self.waiters -= before - rest;
        // The poller would report a hang-up again and again for a wait for urgent data alone.
        if rest > 0 && flags & BROKEN == 0 {
            self.rearm(index);
        }
    }

    /// Arms the descriptor for the waits that remain on it. If that fails, their own call tells them why.
    fn rearm(&mut self, index: usize) {
        if let Ok(number) = RawFd::try_from(index) {
            let _ = self.arm(number, index);
        }
    }

    fn arm(&mut self, number: RawFd, index: usize) -> Result<Armed, P::Error> {
        let interest = &mut self.interests[index];
        let wanted = interest.waiters.iter().fold(0, |all, (_, one)| all | one);
        if interest.is_registered {
            let token = token(index, interest.generation);
            match self.poller.modify(number, token, wanted) {
                Ok(Armed::Unregistered) => {}
                done => return done,
            }
        }
        interest.generation = interest.generation.wrapping_add(1);
        let token = token(index, interest.generation);
        let armed = self.poller.add(number, token, wanted);
        interest.is_registered = matches!(armed, Ok(Armed::Yes));
        armed
    }
}

/// The part of `events` that `flags` contain. An error or a hang-up counts as any event but urgent data.
fn met(events: u16, flags: u16) -> u16 {
    let reported = events & flags;
    if flags & BROKEN != 0 {
        return reported | events & !PRIORITY;
    }
    reported
}

fn index(number: RawFd) -> Option<usize> {
    usize::try_from(number).ok()
}

fn token(index: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | (index as u64 & 0xFFFF_FFFF)
}

fn parts(token: u64) -> (usize, u32) {
    let index = usize::try_from(token & 0xFFFF_FFFF).unwrap_or(usize::MAX);
    let generation = u32::try_from(token >> 32).unwrap_or(u32::MAX);
    (index, generation)
}

#[cfg(test)]
mod tests;
