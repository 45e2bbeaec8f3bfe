use std::fmt;

use super::worker_id::WorkerId;
use crate::field_value::FieldValue;

/// Names one lane of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneTag {
    pub(crate) worker: WorkerId,
    pub(crate) lane: u16,
}

impl fmt::Display for LaneTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.worker, self.lane)
    }
}

impl FieldValue for LaneTag {}
