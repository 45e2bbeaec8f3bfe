use rustix::process::WaitStatus;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::census::Survey;
use super::memory::Sample;
use crate::dispatch::LaneEvent;
use crate::dispatch::WorkerId;

/// Who is at the other end of a control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The mold of this generation.
    Mold(u32),
    Worker(WorkerId),
}

/// What has happened to a Ruby process or one of its lanes.
#[derive(Debug)]
pub(crate) enum Event {
    /// It has said hello.
    Greeted { who: Who, pid: u32 },
    /// It is ready for work.
    Ready(Who),
    /// It could not boot, for this reason.
    BootFailed { who: Who, text: String },
    /// The worker that was to be the mold of this generation cannot be one, nor can any other of its own.
    NotForkSafe { generation: u32, text: String },
    /// A thread of the worker stands here.
    Stack {
        worker: WorkerId,
        lane: u16,
        text: String,
    },
    /// It has told its figures, a JSON object.
    Figures { who: Who, json: String },
    /// Somebody wants to know of all processes.
    Census(oneshot::Sender<Survey>),
    /// The time for answers to the question with this number is over.
    CensusDue(u64),
    /// The worker was told to end by somebody else.
    Leaving(WorkerId),
    /// It has closed its control socket.
    Closed(Who),
    /// Something happened to a lane.
    Lane(LaneEvent),
    /// All processes have been weighed.
    Measured(Sample),
    /// A child process is dead.
    Reaped { pid: u32, status: WaitStatus },
}

/// Where events are sent to; there are never more than a few for each process.
#[derive(Debug, Clone)]
pub(crate) struct Events(UnboundedSender<Event>);

impl Events {
    pub(crate) fn channel() -> (Events, UnboundedReceiver<Event>) {
        let (sender, receiver) = unbounded_channel();
        (Events(sender), receiver)
    }

    pub(crate) fn send(&self, event: Event) {
        // Without a supervisor the edge is about to exit.
        let _ = self.0.send(event);
    }
}
