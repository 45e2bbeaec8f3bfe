use carat_exchange::Peer;
use carat_log::Log;

/// Failures of clients since the last report.
#[derive(Default)]
pub struct Failures {
    count: u64,
    /// The client and the reason of the last failure.
    last: Option<(String, String)>,
}

impl Failures {
    /// Counts a failure.
    pub fn note(&mut self, peer: &Peer, reason: String) {
        self.count += 1;
        self.last = Some((peer.logged().to_owned(), reason));
    }

    /// Logs the failures, if there are any.
    pub fn report(self, event: &str, log: &Log) {
        if let Some((remote, reason)) = &self.last {
            let clients = self.count;
            log.warn(
                event,
                &[("clients", &clients), ("last", remote), ("reason", reason)],
            );
        }
    }
}
