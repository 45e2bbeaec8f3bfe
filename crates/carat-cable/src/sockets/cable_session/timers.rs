use std::mem::take;
use std::rc::Rc;
use std::time::Instant;

use super::channel_timer::ChannelTimer;
use super::{CableSession, RunningCommand};
use crate::CommandBody;

/// Commands of timers take turns with those of the client.
impl CableSession {
    /// It is `now`: timers may be due. Returns when the next one is.
    pub fn pass_time(&mut self, now: Instant) -> Option<Instant> {
        let subscriptions = self.subscriptions.iter_mut();
        let extras = subscriptions.filter_map(|it| it.extras.as_mut());
        let timers = extras.flat_map(|extras| extras.timers.iter_mut());
        timers.filter_map(|timer| timer.pass(now)).min()
    }

    pub(super) fn set_timers(&mut self, at: usize, timers: Box<[ChannelTimer]>) {
        let subscription = &mut self.subscriptions[at];
        if timers.is_empty() && subscription.extras.is_none() {
            return;
        }
        self.kept -= subscription.timers_bytes();
        subscription.extras.get_or_insert_default().timers = timers;
        self.kept += subscription.timers_bytes();
    }

    /// The command of the timer that has waited for longest. After it, one of the client has its turn.
    pub(super) fn next_timer(&mut self) -> Option<String> {
        let subscriptions = self.subscriptions.iter_mut();
        let mut extras = subscriptions.filter_map(|it| it.extras.as_mut());
        let has_had_turn = extras.any(|extras| take(&mut extras.has_had_turn));
        if has_had_turn && !self.waiting.is_empty() {
            return None;
        }
        let extras = self
            .subscriptions
            .iter()
            .filter_map(|it| it.extras.as_ref());
        let timers = extras.flat_map(|extras| extras.timers.iter());
        let first = timers.filter_map(|timer| timer.since).min()?;
        let is_first = |timer: &ChannelTimer| timer.since == Some(first);
        for subscription in &mut self.subscriptions {
            let Some(extras) = &mut subscription.extras else {
                continue;
            };
            if let Some(number) = extras.timers.iter().position(is_first) {
                extras.has_had_turn = true;
                extras.timers[number].since = None;
                let body = CommandBody::Timer {
                    connection: &self.connection,
                    identifier: &subscription.identifier,
                    timer: number,
                    every: extras.timers[number].every.as_millis(),
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
