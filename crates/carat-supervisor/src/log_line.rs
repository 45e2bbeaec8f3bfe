use std::fmt;
use std::time::Duration;

use serde_json::Value;

use carat_log::{Field, FieldValue, Level, Log};

/// A line for the log, as plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    level: Level,
    /// The event that the line reports.
    pub message: &'static str,
    /// The kind under which a counter counts the line; `None` when nothing counts it.
    pub kind: Option<&'static str>,
    fields: Vec<(&'static str, LogValue)>,
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogValue {
    Number(u64),
    Text(String),
}

impl LogLine {
    /// A line about an expected event.
    pub fn info(message: &'static str) -> LogLine {
        LogLine::new(Level::Info, message)
    }

    /// A line that an operator should know.
    pub fn warn(message: &'static str) -> LogLine {
        LogLine::new(Level::Warn, message)
    }

    /// A line about a failure.
    pub fn error(message: &'static str) -> LogLine {
        LogLine::new(Level::Error, message)
    }

    fn new(level: Level, message: &'static str) -> LogLine {
        LogLine {
            level,
            message,
            kind: None,
            fields: Vec::new(),
        }
    }

    /// Names the kind under which a counter counts the line. The kinds are few and known.
    #[must_use]
    pub fn of_kind(mut self, kind: &'static str) -> LogLine {
        self.kind = Some(kind);
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, name: &'static str, value: impl Into<u64>) -> LogLine {
        self.fields.push((name, LogValue::Number(value.into())));
        self
    }

    /// Adds a duration in whole milliseconds.
    #[must_use]
    pub fn milliseconds(self, name: &'static str, value: Duration) -> LogLine {
        self.number(name, u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
    }

    /// Adds a text.
    #[must_use]
    pub fn text(mut self, name: &'static str, value: impl fmt::Display) -> LogLine {
        self.fields.push((name, LogValue::Text(value.to_string())));
        self
    }

    /// Writes the line.
    pub fn write(&self, log: &Log) {
        let fields: Vec<Field<'_>> = self
            .fields
            .iter()
            .map(|(name, value)| (*name, value as &dyn FieldValue))
            .collect();
        log.event(self.level, self.message, &fields);
    }
}

impl fmt::Display for LogValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogValue::Number(number) => number.fmt(f),
            LogValue::Text(text) => f.write_str(text),
        }
    }
}

impl FieldValue for LogValue {
    fn json(&self) -> Value {
        match self {
            LogValue::Number(number) => Value::from(*number),
            LogValue::Text(text) => Value::from(text.as_str()),
        }
    }
}
