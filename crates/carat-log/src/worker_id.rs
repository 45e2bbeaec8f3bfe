use std::fmt;

use serde_json::Value;

use crate::field_value::FieldValue;

/// Identifies a worker, and distinguishes it from earlier workers with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId {
    /// The number that people see. It is reused when the worker is dead.
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
