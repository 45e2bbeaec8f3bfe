//! How a new edge takes over, as in nginx: it boots while this edge serves, with copies of the listeners, and says when
//! its workers are ready. From then on this edge only finishes what its clients have begun. If a step before that
//! fails, this edge continues to serve.

use std::time::Instant;

use super::processes::{Processes, no_room};
use super::reaction::{KILL_AFTER, Reaction};
use crate::command::{Command, UpgradeCommand};
use crate::log_line::LogLine;

/// How many times `boot_timeout` a new edge may take: it reads the configuration, boots a mold, and boots workers.
const BOOTS: u32 = 3;

/// The upgrade under way, and the new edge of the last one.
#[derive(Debug, Default)]
pub struct Upgrades {
    /// The new edge until it is ready; a new edge that has failed, until its process has ended.
    booting: Option<NewEdge>,
    /// The process id of the new edge that accepts the clients.
    pub(super) successor: Option<u32>,
}

/// A new edge that does not serve yet.
#[derive(Debug)]
struct NewEdge {
    /// `None` before it was started, and once it has ended.
    pid: Option<u32>,
    /// When the new edge is too late, or is killed if it has failed.
    deadline: Instant,
    has_failed: bool,
}

impl Upgrades {
    /// Whether a new edge runs that does not serve.
    pub fn is_under_way(&self) -> bool {
        self.booting.is_some()
    }

    /// The process id of the new edge that does not serve.
    pub(super) fn pid(&self) -> Option<u32> {
        self.booting.as_ref()?.pid
    }

    /// Begins an upgrade, as `carat upgrade` or SIGUSR2 asked.
    pub(super) fn begin(&mut self, processes: &mut Processes, reaction: &mut Reaction) {
        // There are at most two molds at once.
        let ending = processes.molds.previous.as_ref();
        let freed = ending.and_then(|it| it.mold.anonymous).unwrap_or(0);
        let missing = processes.missing_for_mold(reaction.now).unwrap_or(0);
        self.booting = Some(NewEdge {
            pid: None,
            deadline: reaction.now + reaction.limits.boot_timeout * BOOTS,
            has_failed: false,
        });
        reaction.log(LogLine::info("upgrading"));
        match missing.saturating_sub(freed) {
            0 => {
                processes.molds.end_previous(reaction);
                reaction.push(Command::Upgrade(UpgradeCommand::StartSuccessor));
            }
            bytes => self.fail(no_room(bytes), reaction),
        }
    }

    /// The command that starts the new edge runs.
    pub(super) fn started(&mut self, pid: u32) {
        if let Some(edge) = &mut self.booting {
            edge.pid = Some(pid);
        }
    }

    /// Ends a new edge that is overdue.
    pub(super) fn advance(&mut self, reaction: &mut Reaction) {
        let overdue = self.booting.as_ref();
        match overdue.filter(|edge| reaction.now >= edge.deadline) {
            // A new edge that does not end may still hold the listeners.
            Some(edge) if edge.has_failed => reaction.kill(edge.pid),
            Some(_) => {
                let limit = reaction.limits.boot_timeout;
                let cause = format!(
                    "the new edge is not ready within {BOOTS} times {limit:?} (boot_timeout)"
                );
                self.fail(cause, reaction);
            }
            None => {}
        }
    }

    /// Handles that the new edge with this process id accepts clients. False if this edge has already given it up.
    pub(super) fn ready(&mut self, pid: u32, reaction: &mut Reaction) -> bool {
        let is_ready = |edge: &mut NewEdge| edge.pid == Some(pid) && !edge.has_failed;
        let is_expected = self.booting.take_if(is_ready).is_some();
        if is_expected {
            self.successor = Some(pid);
            reaction.push(Command::Upgrade(UpgradeCommand::HandOver { pid }));
            reaction.log(LogLine::info("upgraded").number("successor", pid));
        } else {
            let cause = "the new edge has ended".to_owned();
            self.failed(None, cause, reaction);
        }
        is_expected
    }

    /// Handles that the new edge with this process id cannot take over; `None` if it could not be started.
    pub(super) fn failed(&mut self, pid: Option<u32>, cause: String, reaction: &mut Reaction) {
        // The exit of the new edge may have been reported first.
        let is_known = |edge: &NewEdge| edge.pid.is_none() || edge.pid == pid;
        let booting = self.booting.as_ref();
        if booting.is_some_and(|edge| !edge.has_failed && is_known(edge)) {
            self.fail(cause, reaction);
        }
    }

    /// Gives up the upgrade, because something else takes precedence.
    pub(super) fn cancel(&mut self, cause: &str, reaction: &mut Reaction) {
        if self.booting.as_ref().is_some_and(|edge| !edge.has_failed) {
            self.fail(cause.to_owned(), reaction);
        }
    }

    fn fail(&mut self, cause: String, reaction: &mut Reaction) {
        reaction.log(LogLine::error("not upgraded").text("cause", &cause));
        if let Some(pid) = self.pid() {
            reaction.push(Command::Terminate { pid });
        }
        reaction.push(Command::Upgrade(UpgradeCommand::KeepServing { cause }));
        if let Some(edge) = &mut self.booting {
            edge.has_failed = true;
            edge.deadline = reaction.now + reaction.limits.shutdown_timeout + KILL_AFTER;
        }
        self.end_if_gone();
    }

    /// The new edge that does not serve has ended, if it has this process id.
    pub(super) fn exited(&mut self, pid: u32) -> bool {
        let booting = self.booting.as_mut();
        let Some(edge) = booting.filter(|edge| edge.pid == Some(pid)) else {
            return false;
        };
        edge.pid = None;
        self.end_if_gone();
        true
    }

    fn end_if_gone(&mut self) {
        let is_over = |edge: &mut NewEdge| edge.has_failed && edge.pid.is_none();
        self.booting.take_if(is_over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::reaction;

    #[test]
    fn a_failed_upgrade_is_over_when_the_new_edge_has_ended() {
        let mut reaction = reaction();
        let mut processes = Processes::new(1, 0, reaction.now);
        let mut upgrades = Upgrades::default();
        upgrades.begin(&mut processes, &mut reaction);
        upgrades.started(42);
        upgrades.cancel("something else", &mut reaction);
        assert!(upgrades.is_under_way());
        assert!(upgrades.exited(42));
        assert!(!upgrades.is_under_way());
    }
}
