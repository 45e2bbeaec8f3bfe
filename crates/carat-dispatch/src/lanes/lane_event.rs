use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use carat_log::{LaneTag, WorkerId};

/// An event of a lane, or of all of them, for the supervisor of the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneEvent {
    /// The lane was draining and is empty now.
    Drained(LaneTag),
    /// The lane is closed.
    Lost(LaneTag),
    /// The worker is to run a full garbage collection.
    Collect(WorkerId),
    /// The worker is to leave the full garbage collection that is due to Ruby.
    DeclineCollection(WorkerId),
    /// The worker could not open the descriptors of a request.
    DescriptorsLost(LaneTag),
    /// `request_timeout` expired for a request.
    Stuck {
        /// The lane that runs the request.
        tag: LaneTag,
        /// The number of the request on its lane.
        request: u32,
    },
    /// `slow_request` expired for a request.
    Slow {
        /// The lane that runs the request.
        tag: LaneTag,
        /// The number of the request on its lane.
        request: u32,
    },
    /// Source files have changed: no lane may get a request before new code is loaded.
    CodeChanged,
}

/// Sends lane events. The channel is unbounded, because each lane and each request cause only a few events.
#[derive(Debug, Clone)]
pub struct LaneEvents(UnboundedSender<LaneEvent>);

impl LaneEvents {
    /// The sender that all lanes share, and its receiver.
    pub fn channel() -> (LaneEvents, UnboundedReceiver<LaneEvent>) {
        let (sender, receiver) = unbounded_channel();
        (LaneEvents(sender), receiver)
    }

    /// Sends an event; without a receiver it is lost.
    pub fn send(&self, event: LaneEvent) {
        // Without a supervisor the edge is about to exit.
        let _ = self.0.send(event);
    }
}
