use std::time::{Duration, Instant};

use carat_wire::control::AskStack;

use super::roster::Stage;
use super::supervisor::Supervisor;
use crate::dispatch::LaneTag;
use crate::dispatch::WorkerId;
use crate::log::Field;

/// How long a worker whose request is stuck has to say where it stands.
const STACK_WAIT: Duration = Duration::from_secs(1);

/// Requests that the application does not answer in time.
impl Supervisor {
    /// A request has taken too long: the worker says where it stands, finishes its other requests, and
    /// is replaced.
    pub(super) fn lane_stuck(&mut self, tag: LaneTag, request: u32) {
        let now = Instant::now();
        let deadline = now + self.server.settings.shutdown_timeout;
        let Some(worker) = self.roster.get_mut(tag.worker) else {
            return;
        };
        let lane = tag.lane;
        let ask = AskStack { lane, request };
        worker.channel.send(Vec::new(), |out| ask.encode(out));
        let stack = now + STACK_WAIT;
        match &mut worker.stage {
            stage if stage.is_last() => {}
            // Another of its requests did before; its time is over when it was to be.
            Stage::Stuck { stack: answer, .. } => *answer = stack,
            stage => {
                *stage = Stage::Stuck { stack, deadline };
                self.server.dispatcher.drain(tag.worker);
            }
        }
    }

    pub(super) fn log_stack(&mut self, id: WorkerId, lane: u16, text: &str) {
        let Some(worker) = self.roster.get_mut(id) else {
            return;
        };
        if let Stage::Stuck { stack, .. } = &mut worker.stage {
            *stack = Instant::now();
        }
        let stack: [Field<'_>; 2] = [("lane", &lane), ("stack", &text)];
        let fields = [&worker.identity()[..], &stack].concat();
        self.server.log.error("stack of the stuck request", &fields);
    }
}
