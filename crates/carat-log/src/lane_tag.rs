use std::fmt;

use crate::field_value::FieldValue;
use crate::worker_id::WorkerId;

/// Names one lane of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneTag {
    /// The worker whose thread runs the lane.
    pub worker: WorkerId,
    /// The number of the lane within the worker.
    pub lane: u16,
}

impl fmt::Display for LaneTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.worker, self.lane)
    }
}

impl FieldValue for LaneTag {}
