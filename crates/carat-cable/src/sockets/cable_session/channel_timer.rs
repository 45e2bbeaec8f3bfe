use std::time::{Duration, Instant};

/// The most timers of one subscription; the application refuses a channel with more.
pub(super) const TIMERS_LIMIT: usize = 8;
/// The shortest time between two commands of a timer; the application refuses a timer that asks for
/// less.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// The timers of a subscription.
#[derive(Debug)]
pub(super) struct ChannelTimers {
    pub(super) timers: Box<[ChannelTimer]>,
    /// Whether the client's last command came from one of these timers.
    pub(super) has_had_turn: bool,
}

impl ChannelTimers {
    /// The timers of a subscription; `None` for one without timers, as most are.
    pub(super) fn new(timers: Box<[ChannelTimer]>) -> Option<Box<ChannelTimers>> {
        (!timers.is_empty()).then(|| {
            Box::new(ChannelTimers {
                timers,
                has_had_turn: false,
            })
        })
    }
}

/// A timer of a channel, which runs while a client has subscribed to it.
#[derive(Clone, Debug)]
pub(super) struct ChannelTimer {
    pub(super) every: Duration,
    /// `None` until it is started.
    next: Option<Instant>,
    /// When the timer was due, while its command waits for its turn. A timer whose command waits is not due again.
    pub(super) since: Option<Instant>,
}

impl ChannelTimer {
    /// The timers with these intervals in milliseconds.
    pub(super) fn all(intervals: &[u64]) -> Box<[ChannelTimer]> {
        let intervals = intervals.iter().take(TIMERS_LIMIT);
        let timers = intervals.map(|every| ChannelTimer {
            every: Duration::from_millis(*every).max(SHORTEST_INTERVAL),
            next: None,
            since: None,
        });
        timers.collect()
    }

    /// Sets the time to `now`. Returns when the timer is due next; `None` if that is further than
    /// the clock can count.
    pub(super) fn pass(&mut self, now: Instant) -> Option<Instant> {
        let next = match self.next {
            Some(next) if next > now => next,
            due => {
                let following = due.and_then(|due| due.checked_add(self.every));
                self.since = self.since.or(due);
                // Times that were missed, such as while the client was away, are left out.
                match following.filter(|following| *following > now) {
                    Some(following) => following,
                    None => now.checked_add(self.every)?,
                }
            }
        };
        self.next = Some(next);
        self.next
    }
}
