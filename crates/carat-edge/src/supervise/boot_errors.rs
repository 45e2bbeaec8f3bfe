use std::time::Duration;

use crate::log::{Field, Log};

/// Logs why processes cannot boot, each reason once, however often it comes back.
#[derive(Debug, Default)]
pub(super) struct BootErrors {
    last: String,
}

impl BootErrors {
    /// Logs one more failure of `who`, who is tried again after `delay`.
    pub(super) fn log(
        &mut self,
        log: &Log,
        message: &str,
        who: &[Field<'_>],
        delay: Duration,
        text: &str,
    ) {
        let retry = format!("{:.2}s", delay.as_secs_f64());
        let cause = if self.last == text {
            "as before"
        } else {
            text.clone_into(&mut self.last);
            text
        };
        let fields = [who, &[("retry_in", &retry), ("cause", &cause)]].concat();
        log.error(message, &fields);
    }

    /// It works again: the next failure is news.
    pub(super) fn forget(&mut self) {
        self.last.clear();
    }
}
