use std::fmt;

use serde_json::Value;

use crate::field_value::FieldValue;

/// Identifies a worker, also among those that had the same number before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId {
    /// The name for people; reused when the worker is dead.
    pub number: u32,
    /// How many workers were forked before this one.
    pub serial: u64,
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

impl FieldValue for WorkerId {
    fn json(&self) -> Value {
        Value::from(self.number)
    }
}
