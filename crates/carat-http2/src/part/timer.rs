use std::rc::Rc;
use std::task::Context;

use carat_exchange::ConnectionState;
use carat_http::{ActiveEnd, Deadline, PhaseTimeouts};
use carat_settings::Settings;

/// The timeouts of a connection, or of one of its streams.
pub(super) struct PhaseTimer<'a> {
    pub(super) timeouts: PhaseTimeouts<'a>,
    state: Rc<ConnectionState>,
}

impl<'a> PhaseTimer<'a> {
    pub(super) fn new(
        deadline: &'a Deadline,
        state: &Rc<ConnectionState>,
        settings: &'a Settings,
    ) -> PhaseTimer<'a> {
        PhaseTimer {
            timeouts: PhaseTimeouts::new(deadline, settings),
            state: Rc::clone(state),
        }
    }

    /// How the connection, or the stream, must end, if it must. Otherwise, the task is woken when
    /// it is to look again.
    pub(super) fn expired(&mut self, cx: &Context<'_>) -> Option<ActiveEnd> {
        if let Some(refusal) = self.state.end.refusal() {
            let may_refuse = self.state.may_refuse();
            return Some(ActiveEnd::Over(may_refuse.then_some(refusal)));
        }
        self.timeouts.end(&self.state, cx)
    }
}
