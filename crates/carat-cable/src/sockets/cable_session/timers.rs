use std::mem::take;
use std::rc::Rc;
use std::time::Instant;

use super::channel_timer::{ChannelTimer, ChannelTimers};
use super::{CableSession, RunningCommand};
use crate::CommandBody;

/// Commands of timers, which take turns with the commands that the client sends.
impl CableSession {
    /// Sets the time to `now`, at which timers may be due. Returns when the next timer is due.
    pub fn pass_time(&mut self, now: Instant) -> Option<Instant> {
        let subscriptions = self.subscriptions.iter_mut();
        let timers = subscriptions.filter_map(|it| it.timers.as_mut());
        let timers = timers.flat_map(|it| it.timers.iter_mut());
        timers.filter_map(|timer| timer.pass(now)).min()
    }

    pub(super) fn set_timers(&mut self, at: usize, timers: Box<[ChannelTimer]>) {
        let subscription = &mut self.subscriptions[at];
        self.kept -= subscription.timers_bytes();
        subscription.timers = ChannelTimers::new(timers);
        self.kept += subscription.timers_bytes();
    }

    /// The command of the timer that has waited for longest; `None` if no timer waits, or if a
    /// command of the client has its turn.
    pub(super) fn next_timer(&mut self) -> Option<String> {
        let subscriptions = self.subscriptions.iter_mut();
        let mut ours = subscriptions.filter_map(|it| it.timers.as_mut());
        let has_had_turn = ours.any(|it| take(&mut it.has_had_turn));
        if has_had_turn && !self.waiting.is_empty() {
            return None;
        }
        let all = self
            .subscriptions
            .iter()
            .filter_map(|it| it.timers.as_ref());
        let waiting = all.flat_map(|it| it.timers.iter().filter_map(|timer| timer.since));
        let first = waiting.min()?;
        let is_first = |timer: &ChannelTimer| timer.since == Some(first);
        for subscription in &mut self.subscriptions {
            let Some(ChannelTimers {
                timers,
                has_had_turn,
            }) = subscription.timers.as_deref_mut()
            else {
                continue;
            };
            if let Some(number) = timers.iter().position(is_first) {
                *has_had_turn = true;
                timers[number].since = None;
                let body = CommandBody::Timer {
                    connection: &self.connection,
                    identifier: &subscription.identifier,
                    timer: number,
                    every: timers[number].every.as_millis(),
                    state: subscription.state.as_deref(),
                };
                let identifier = Rc::clone(&subscription.identifier);
                self.running = Some(RunningCommand::Message(identifier));
                return Some(body.to_json());
            }
        }
        None
    }
}
