use std::task::Context;
use std::time::{Duration, Instant};

use crate::time_limits::deadlines::Deadline;
use crate::time_limits::slow_reader::SlowReader;
use carat_exchange::{ConnectionPhase, ConnectionState, Refusal, Takeover};
use carat_settings::Settings;

/// A connection that has been idle for this long is parked as a bare socket: hyper's buffers take 7 to
/// 11 KB a connection.
pub(crate) const PARK_AFTER: Duration = Duration::from_secs(1);

/// How long a body may be slow before its average rate is checked.
const BODY_GRACE: Duration = Duration::from_secs(10);
/// The interval between two checks of a body's average rate.
const BODY_CHECK: Duration = Duration::from_secs(1);

/// The interval between two checks for a client that has left while the server reads nothing from it.
const CLIENT_CHECK: Duration = Duration::from_secs(1);

/// How the active phase of a connection ends.
pub enum ActiveEnd {
    /// There was nothing to read. Readiness has false positives, and tokio assumes that a new connection is ready.
    FalseAlarm,
    /// The connection is idle, and can be parked.
    Idle,
    /// The connection is over. The refusal, if there is one, has not been sent.
    Over(Option<Refusal>),
    /// The client does not read its response.
    Stuck,
    /// The response is incomplete. Only a reset tells the client so.
    BrokenOff,
    /// The application has taken over the connection.
    TakenOver(Box<Takeover>),
}

/// The timeout of each phase of a connection.
pub struct PhaseTimeouts<'a> {
    phase: Option<ConnectionPhase>,
    /// `ConnectionState::body_pauses` when the deadline was set.
    pauses: u32,
    since: Instant,
    /// The bytes of the body that had arrived at `since`.
    received: u64,
    /// How long the connection may be idle; `None` if it is parked when it is idle.
    idle: Option<Duration>,
    reader: SlowReader,
    deadline: &'a Deadline,
    settings: &'a Settings,
}

impl<'a> PhaseTimeouts<'a> {
    /// The timeouts of a connection that begins.
    pub fn new(deadline: &'a Deadline, settings: &'a Settings) -> Self {
        let now = deadline.time();
        let (timeout, min_rate) = (settings.write_timeout, settings.write_min_rate);
        PhaseTimeouts {
            phase: None,
            pauses: 0,
            since: now,
            received: 0,
            idle: None,
            reader: SlowReader::new(timeout, min_rate, now),
            deadline,
            settings,
        }
    }

    /// Sets how long the connection may be idle from now on. It is not parked.
    pub fn allow_idle(&mut self, timeout: Duration) {
        self.idle = Some(timeout);
        if self.phase == Some(ConnectionPhase::Idle) {
            self.phase = None;
        }
    }

    /// How the connection must end, if it must. Otherwise the task is woken when it has to check again.
    pub fn end(&mut self, state: &ConnectionState, cx: &Context<'_>) -> Option<ActiveEnd> {
        if let Some(end) = self.follow(state) {
            return Some(end);
        }
        while self.deadline.passed(cx.waker()) {
            if let Some(end) = self.expired(state) {
                return Some(end);
            }
        }
        None
    }

    /// Resets the deadline when the phase has changed. Returns how the connection ends, if it must.
    fn follow(&mut self, state: &ConnectionState) -> Option<ActiveEnd> {
        let phase = state.phase();
        // A body that was paused gets its full time again.
        let resumed = phase == ConnectionPhase::Body && self.pauses != state.body.pauses();
        if self.phase == Some(phase) && !resumed {
            return None;
        }
        if self.phase == Some(ConnectionPhase::Writing) {
            self.reader.end(self.deadline.time(), state.read_progress());
        }
        self.phase = Some(phase);
        match phase {
            ConnectionPhase::Idle => {
                let park_after = match self.idle {
                    Some(idle) => idle,
                    None if state.memory().memory().is_short() => Duration::ZERO,
                    None => PARK_AFTER,
                };
                self.deadline
                    .set(park_after.min(self.settings.idle_timeout));
            }
            ConnectionPhase::Headers => self.deadline.set(self.settings.header_timeout),
            ConnectionPhase::Body => {
                self.since = self.deadline.time();
                self.received = state.body.bytes();
                self.pauses = state.body.pauses();
                self.deadline.set(BODY_GRACE);
            }
            ConnectionPhase::Application => self.deadline.set(CLIENT_CHECK),
            ConnectionPhase::Writing => {
                let verdict = self
                    .reader
                    .begin(self.deadline.time(), state.read_progress());
                return self.await_reader(verdict);
            }
        }
        None
    }

    /// Continues to wait for the client to read its response, or gives up.
    fn await_reader(&mut self, pause: Option<Duration>) -> Option<ActiveEnd> {
        let Some(pause) = pause else {
            return Some(ActiveEnd::Stuck);
        };
        self.deadline.set(pause);
        None
    }

    /// The deadline has passed. Returns how the connection ends, or `None` after a new deadline is set.
    fn expired(&mut self, state: &ConnectionState) -> Option<ActiveEnd> {
        match self.phase? {
            ConnectionPhase::Idle => Some(ActiveEnd::Idle),
            ConnectionPhase::Headers => Some(ActiveEnd::Over(Some(Refusal::TooSlow))),
            ConnectionPhase::Application => {
                state.order.wake_reader();
                self.deadline.set(CLIENT_CHECK);
                None
            }
            // The response has begun, so there is no other way to refuse the request.
            ConnectionPhase::Writing if state.end.refusal() == Some(Refusal::ClientMemory) => {
                Some(ActiveEnd::Stuck)
            }
            ConnectionPhase::Writing => {
                let verdict = self
                    .reader
                    .look(self.deadline.time(), state.read_progress());
                self.await_reader(verdict)
            }
            ConnectionPhase::Body => {
                let waited = self.deadline.time().saturating_duration_since(self.since);
                let floor = waited.as_secs().saturating_mul(self.settings.body_min_rate);
                if state.body.bytes() - self.received < floor {
                    return Some(ActiveEnd::Over(
                        state.may_refuse().then_some(Refusal::TooSlow),
                    ));
                }
                self.deadline.set(BODY_CHECK);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use carat_exchange::{ClientMemory, clock};
    use carat_guard::MessagePosition;

    use super::*;
    use crate::time_limits::deadlines::{Deadlines, TICK};

    /// Bytes a second.
    const RATE: usize = 1000;

    /// The second in which a body is refused if `sent` bytes of it arrive in each second; `usize::MAX` for none.
    async fn lasts(sent: impl Iterator<Item = usize>) -> usize {
        let deadlines = Deadlines::new();
        let deadline = deadlines.deadline();
        let mut settings = Settings::plain();
        settings.body_min_rate = RATE as u64;
        let state = ConnectionState::new(ClientMemory::new(1 << 20).account());
        state.body.set_position(MessagePosition::InBody);
        let mut timeouts = PhaseTimeouts::new(&deadline, &settings);
        let cx = Context::from_waker(Waker::noop());
        assert!(timeouts.end(&state, &cx).is_none());
        for (second, bytes) in sent.enumerate() {
            state.body.count(bytes);
            for _ in 0..10 {
                if timeouts.end(&state, &cx).is_some() {
                    return second;
                }
                tokio::time::advance(TICK).await;
                deadlines.tick(clock::now());
            }
        }
        usize::MAX
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_may_pause_for_less_than_the_grace_and_trickle_for_no_longer() {
        let steady = std::iter::repeat_n(RATE, 60);
        assert_eq!(lasts(steady.clone()).await, usize::MAX);
        // Behind for nine seconds, and then as far as it should be.
        let pause = std::iter::repeat_n(0, 9).chain([RATE * 11]);
        assert_eq!(lasts(pause.chain(steady)).await, usize::MAX);
        let grace = usize::try_from(BODY_GRACE.as_secs()).expect("a few seconds");
        let trickle = std::iter::repeat_n(RATE / 2, 60);
        assert!((grace..grace + 2).contains(&lasts(trickle).await));
        // Bytes that arrived early count for the average.
        let burst = std::iter::once(RATE * 20).chain(std::iter::repeat_n(1, 60));
        assert!((20..23).contains(&lasts(burst).await));
    }
}
