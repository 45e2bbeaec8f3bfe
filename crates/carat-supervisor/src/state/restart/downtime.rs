use std::time::{Duration, Instant};

use crate::command::{ClientsCommand, Command};
use crate::log_line::LogLine;
use crate::state::reaction::Reaction;

/// How long slow responses of the last worker may keep all requests waiting before another worker takes its place. This
/// is a second more than the default of `tunnel_timeout`.
const DOWNTIME_LIMIT: Duration = Duration::from_secs(6);

/// How long that other worker has to finish its responses, when requests are held a second time for the new mold.
pub(super) const SUCCESSOR_DOWNTIME_LIMIT: Duration = Duration::from_secs(10);

/// The downtime of a restart, in which no worker runs so that the new mold has room, and the length of the last one.
#[derive(Debug, Default)]
pub(super) struct Downtimes {
    current: Option<Downtime>,
    last: Option<PastDowntime>,
}

/// A time in which no worker runs, and requests wait.
#[derive(Debug)]
struct Downtime {
    /// The number of the restart.
    restart: u32,
    since: Instant,
    /// When the restart ended, if no worker has served since.
    left: Option<Instant>,
}

/// A time in which no worker ran.
#[derive(Debug)]
struct PastDowntime {
    /// The number of the restart.
    restart: u32,
    /// How long requests waited at most.
    waited: Duration,
}

impl Downtimes {
    /// Keeps requests waiting while this restart has no worker.
    pub(super) fn begin(&mut self, restart: u32, reaction: &mut Reaction) {
        self.current = Some(Downtime {
            restart,
            since: reaction.now,
            left: None,
        });
        reaction.push(Command::Clients(ClientsCommand::HoldRequests));
    }

    /// Whether no worker runs because of the restart with this number.
    pub(super) fn is_during(&self, restart: u32) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|downtime| downtime.restart == restart)
    }

    /// Whether requests have waited for long enough for the responses of the last worker.
    pub(super) fn is_too_long(&self, now: Instant) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|it| it.duration(now) > DOWNTIME_LIMIT)
    }

    /// How long requests waited at most in the restart with this number; `None` if it had no downtime.
    pub(super) fn waited(&self, restart: u32) -> Option<Duration> {
        let last = self.last.as_ref();
        last.filter(|it| it.restart == restart).map(|it| it.waited)
    }

    /// Ends the hold of the requests, because a worker is about to run: `queue_timeout` applies again.
    pub(super) fn release_requests(&self, reaction: &mut Reaction) {
        if self.current.is_some() {
            reaction.push(Command::Clients(ClientsCommand::ReleaseRequests));
        }
    }

    /// Notes that the restart ended before a worker served.
    pub(super) fn leave(&mut self, reaction: &mut Reaction) {
        self.release_requests(reaction);
        if let Some(downtime) = &mut self.current {
            downtime.left = Some(reaction.now);
        }
    }

    /// Ends the downtime, because a worker serves, and logs how long requests waited.
    pub(super) fn end(&mut self, reaction: &mut Reaction) {
        if let Some(downtime) = self.current.take() {
            let waited = downtime.duration(reaction.now);
            let before = self.waited(downtime.restart).unwrap_or_default();
            self.last = Some(PastDowntime {
                restart: downtime.restart,
                waited: waited.max(before),
            });
            let line = LogLine::info("requests have waited for the restart: no worker ran");
            reaction.log(line.milliseconds("waited_ms", waited));
        }
    }

    /// Ends the downtime of a restart that has failed if the old code cannot boot a worker either. The user who asked
    /// for the restart then learns how it ended.
    pub(super) fn end_late(&mut self, reaction: &Reaction) {
        let is_late = |at: Instant| reaction.now > at + reaction.limits.boot_timeout;
        self.current.take_if(|it| it.left.is_some_and(is_late));
    }
}

impl Downtime {
    /// How long the downtime has lasted.
    fn duration(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::reaction;

    const HOLD: Command = Command::Clients(ClientsCommand::HoldRequests);
    const RELEASE: Command = Command::Clients(ClientsCommand::ReleaseRequests);

    #[test]
    fn requests_wait_from_the_end_of_the_last_worker_to_the_next_one() {
        let mut reaction = reaction();
        let mut downtimes = Downtimes::default();
        downtimes.release_requests(&mut reaction);
        assert_eq!(reaction.commands, []);
        downtimes.begin(7, &mut reaction);
        downtimes.release_requests(&mut reaction);
        assert_eq!(reaction.commands, [HOLD, RELEASE]);
        reaction.now += Duration::from_secs(3);
        downtimes.end(&mut reaction);
        assert_eq!(downtimes.waited(7), Some(Duration::from_secs(3)));
        assert_eq!(downtimes.waited(6), None);
        assert!(!downtimes.is_during(7));
    }

    #[test]
    fn a_restart_that_failed_is_going_back_until_boot_timeout() {
        let mut reaction = reaction();
        let mut downtimes = Downtimes::default();
        downtimes.begin(7, &mut reaction);
        downtimes.leave(&mut reaction);
        assert_eq!(reaction.commands, [HOLD, RELEASE]);
        reaction.now += reaction.limits.boot_timeout;
        downtimes.end_late(&reaction);
        assert!(downtimes.is_during(7));
        reaction.now += Duration::from_millis(1);
        downtimes.end_late(&reaction);
        assert!(!downtimes.is_during(7));
    }
}
