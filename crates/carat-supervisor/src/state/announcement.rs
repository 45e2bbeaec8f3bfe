use super::processes::Processes;
use super::reaction::Reaction;
use crate::command::Command;

/// Whether the server has said that it is ready. It does so when its first worker serves. A server that takes over from
/// another edge does so when all of its workers serve.
#[derive(Debug, Default)]
pub(super) struct Announcement {
    pub(super) is_made: bool,
    pub(super) is_of_successor: bool,
    /// Whether the server stops, and does not say that it is ready any more.
    is_forgone: bool,
}

impl Announcement {
    /// A worker serves.
    pub(super) fn worker_serves(&mut self, reaction: &mut Reaction) {
        if !self.is_made && !self.is_of_successor {
            self.make(reaction);
        }
    }

    /// Announces a server that takes over from another edge, as soon as it has all the workers that it can have now.
    pub(super) fn advance(&mut self, processes: &Processes, reaction: &mut Reaction) {
        let workers = &processes.workers;
        if self.is_made || !self.is_of_successor || workers.serving() == 0 {
            return;
        }
        let is_stuck =
            || !workers.backoff.allows(reaction.now) || processes.has_no_room(reaction.now);
        if workers.booting() == 0 && (workers.missing() == 0 || is_stuck()) {
            self.make(reaction);
        }
    }

    /// Notes that the server stops. A new edge that is told to end before it is ready must not take over the files of
    /// the old edge.
    pub(super) fn forgo(&mut self) {
        self.is_forgone = true;
    }

    fn make(&mut self, reaction: &mut Reaction) {
        if !self.is_forgone {
            self.is_made = true;
            reaction.push(Command::Announce);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::reaction;

    #[test]
    fn the_first_worker_announces_a_server_that_succeeds_none() {
        for is_of_successor in [false, true] {
            let mut announcement = Announcement {
                is_of_successor,
                ..Announcement::default()
            };
            let mut reaction = reaction();
            announcement.worker_serves(&mut reaction);
            announcement.worker_serves(&mut reaction);
            let announced = reaction.commands.len();
            assert_eq!(announced, usize::from(!is_of_successor));
        }
    }
}
