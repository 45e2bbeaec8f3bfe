use std::time::Duration;

use crate::log_line::LogLine;

/// Logs why processes cannot boot: each cause once, however often it repeats.
#[derive(Debug, Default)]
pub(super) struct BootErrors {
    last: String,
}

impl BootErrors {
    /// Completes the line of a failure that is retried after `delay`.
    pub(super) fn line(&mut self, line: LogLine, delay: Duration, cause: &str) -> LogLine {
        let line = line.text("retry_in", format!("{:.2}s", delay.as_secs_f64()));
        if self.last == cause {
            return line.text("cause", "as before");
        }
        cause.clone_into(&mut self.last);
        line.text("cause", cause)
    }

    /// A boot succeeded: the next failure is logged in full.
    pub(super) fn forget(&mut self) {
        self.last.clear();
    }
}
