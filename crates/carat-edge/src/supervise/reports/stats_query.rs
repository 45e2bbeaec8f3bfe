use tokio::sync::oneshot;

use crate::supervise::messages::StatsReport;
use carat_supervisor::RubyProcess;

/// A question to all processes, shared by all clients that ask while it is open.
#[derive(Default)]
pub(crate) struct StatsQuery {
    number: u64,
    askers: Vec<oneshot::Sender<StatsReport>>,
    replies: Vec<(RubyProcess, String)>,
    /// The processes that were asked, now or earlier, and have not replied. None is asked twice: its reply to the first
    /// question is enough, and questions to a process that never replies would pile up.
    silent: Vec<RubyProcess>,
}

impl StatsQuery {
    /// Adds an asker. Returns the number of the query if the processes have to be asked.
    pub(crate) fn join(&mut self, asker: oneshot::Sender<StatsReport>) -> Option<u64> {
        self.askers.push(asker);
        if self.askers.len() > 1 {
            return None;
        }
        self.number += 1;
        Some(self.number)
    }

    /// Expects a reply; true if the process has to be asked for it.
    pub(crate) fn expect(&mut self, process: RubyProcess) -> bool {
        let is_new = !self.silent.contains(&process);
        if is_new {
            self.silent.push(process);
        }
        is_new
    }

    /// Notes that the process replied, or is gone.
    pub(crate) fn receive(&mut self, process: RubyProcess, json: Option<String>) {
        self.silent.retain(|known| *known != process);
        if let Some(json) = json.filter(|_| !self.askers.is_empty()) {
            self.replies.push((process, json));
        }
    }

    /// Whether all processes have replied.
    pub(crate) fn is_complete(&self) -> bool {
        self.silent.is_empty()
    }

    /// Whether the query with this number is still open.
    pub(crate) fn is_open(&self, number: u64) -> bool {
        self.number == number && !self.askers.is_empty()
    }

    /// Takes the reply of a process.
    pub(crate) fn take_reply(&mut self, process: RubyProcess) -> Option<String> {
        let mut replies = self.replies.iter();
        let index = replies.position(|(known, _)| *known == process)?;
        Some(self.replies.swap_remove(index).1)
    }

    /// Closes the query, and returns the clients that asked.
    pub(crate) fn close(&mut self) -> Vec<oneshot::Sender<StatsReport>> {
        self.replies.clear();
        std::mem::take(&mut self.askers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOLD: RubyProcess = RubyProcess::Mold(1);

    fn asker() -> oneshot::Sender<StatsReport> {
        oneshot::channel().0
    }

    fn json() -> String {
        "{}".to_owned()
    }

    #[test]
    fn those_who_ask_at_once_share_one_query() {
        let mut query = StatsQuery::default();
        assert_eq!(query.join(asker()), Some(1));
        assert_eq!(query.join(asker()), None);
        assert!(query.expect(MOLD));
        query.receive(MOLD, Some(json()));
        assert!(query.is_complete());
        assert_eq!(query.take_reply(MOLD), Some(json()));
        assert_eq!(query.close().len(), 2);
        assert_eq!(query.join(asker()), Some(2));
        assert!(query.expect(MOLD));
    }

    #[test]
    fn a_silent_process_is_not_asked_again_before_it_replies() {
        let mut query = StatsQuery::default();
        query.join(asker());
        query.expect(MOLD);
        assert!(query.is_open(1) && !query.is_complete());
        query.close();
        assert!(!query.is_open(1));

        query.join(asker());
        assert!(!query.expect(MOLD));
        query.receive(MOLD, Some(json()));
        assert!(query.is_complete());
    }

    #[test]
    fn a_process_that_dies_is_not_waited_for() {
        let mut query = StatsQuery::default();
        query.join(asker());
        query.expect(MOLD);
        query.receive(MOLD, None);
        assert!(query.is_complete());
        assert_eq!(query.take_reply(MOLD), None);
    }

    #[test]
    fn a_reply_that_nobody_waits_for_is_dropped() {
        let mut query = StatsQuery::default();
        query.receive(MOLD, Some(json()));
        assert_eq!(query.take_reply(MOLD), None);
        assert!(!query.is_open(0));
    }
}
