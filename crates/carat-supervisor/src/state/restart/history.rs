use std::collections::VecDeque;

/// How many finished restarts are remembered.
const FINISHED_LIMIT: usize = 16;

/// The numbers of the restarts, and the results of the finished ones.
#[derive(Debug, Default)]
pub(super) struct RestartHistory {
    /// The number of the latest restart.
    pub latest: u32,
    /// The number of the restart that follows the current one. All users who ask for a restart meanwhile get this
    /// number.
    queued: Option<u32>,
    finished: VecDeque<(u32, Result<(), String>)>,
    /// How the last restart ended, until that is reported.
    pub news: Option<Result<(), String>>,
}

/// The state of a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestartReport {
    /// The restart waits for another one.
    Queued,
    /// The restart is under way, in the step with this name.
    UnderWay(&'static str),
    /// The new code serves.
    Done,
    /// The restart failed for this reason; the old code serves.
    Failed(String),
}

impl RestartHistory {
    /// Begins the queued restart, or a new one, and returns its number.
    pub(super) fn begin(&mut self) -> u32 {
        self.queue();
        self.queued.take().unwrap_or(self.latest)
    }

    /// Notes that another restart follows.
    pub(super) fn queue(&mut self) {
        if self.queued.is_none() {
            self.latest += 1;
            self.queued = Some(self.latest);
        }
    }

    /// Whether another restart follows.
    pub(super) fn has_queued(&self) -> bool {
        self.queued.is_some()
    }

    /// Drops the queued restart, which does not begin.
    pub(super) fn drop_queued(&mut self, cause: &str) {
        if let Some(number) = self.queued.take() {
            self.finish(number, Err(cause.to_owned()));
        }
    }

    /// Notes how a restart ended.
    pub(super) fn finish(&mut self, number: u32, result: Result<(), String>) {
        if self.finished.len() == FINISHED_LIMIT {
            self.finished.pop_front();
        }
        self.news = Some(result.clone());
        self.finished.push_back((number, result));
    }

    /// The state of a restart that is not under way; `None` if it ended long ago, or never was.
    pub(super) fn report(&self, number: u32) -> Option<RestartReport> {
        if self.queued == Some(number) {
            return Some(RestartReport::Queued);
        }
        let mut finished = self.finished.iter();
        let (_, result) = finished.find(|(finished, _)| *finished == number)?;
        Some(match result {
            Ok(()) => RestartReport::Done,
            Err(cause) => RestartReport::Failed(cause.clone()),
        })
    }
}
