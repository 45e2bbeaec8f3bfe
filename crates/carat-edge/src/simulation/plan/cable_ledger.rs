use std::collections::BTreeSet;

/// A message of a client of the cable: the client, and the number of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CableMessage {
    pub(crate) client: usize,
    pub(crate) number: u64,
}

impl CableMessage {
    /// Parses the text of a broadcast: the message, with something behind it.
    pub(crate) fn parse(text: &str) -> Option<CableMessage> {
        let (client, number) = text.split(' ').next()?.split_once('.')?;
        Some(CableMessage {
            client: client.parse().ok()?,
            number: number.parse().ok()?,
        })
    }
}

/// All messages of a run that passed over the cable.
#[derive(Debug, Default)]
pub(crate) struct CableLedger {
    /// The messages that each client has heard since it subscribed.
    heard: Vec<Vec<CableMessage>>,
    /// The messages that workers have begun to carry out.
    run: BTreeSet<CableMessage>,
    /// How many messages clients have waited for in vain.
    missing: u64,
}

impl CableLedger {
    /// A client has connected; returns its index.
    pub(crate) fn join(&mut self) -> usize {
        self.heard.push(Vec::new());
        self.heard.len() - 1
    }

    /// Notes that a worker executes a message. False if it was executed before, or after a later message of the same
    /// client.
    pub(crate) fn run(&mut self, message: CableMessage) -> bool {
        let mut run = self.run.iter().rev();
        let last = run.find(|other| other.client == message.client);
        let is_next = last.is_none_or(|last| last.number < message.number);
        is_next && self.run.insert(message)
    }

    /// Notes that a client hears a message. False if no worker has executed it, or the client has heard it before.
    pub(crate) fn hear(&mut self, client: usize, message: CableMessage) -> bool {
        let heard = &mut self.heard[client];
        let is_new = !heard.contains(&message);
        heard.push(message);
        is_new && self.run.contains(&message)
    }

    /// Notes that a client gives up waiting for this many of its own messages.
    pub(crate) fn miss(&mut self, count: u64) {
        self.missing += count;
    }

    /// The fault at the end of a run in which `lost` commands have failed, if there is one.
    pub(crate) fn fault(&self, lost: u64) -> Option<String> {
        if self.missing > lost {
            let missing = self.missing;
            return Some(format!("{missing} messages are missing, {lost} failed"));
        }
        let pairs = self.heard.iter().enumerate();
        let mut pairs =
            pairs.flat_map(|(at, one)| self.heard[at..].iter().map(move |it| (one, it)));
        let differs = |(one, other): &(&Vec<_>, &Vec<_>)| common(one, other) != common(other, one);
        let (one, other) = pairs.find(differs)?;
        Some(format!("clients have heard {one:?} and {other:?}"))
    }
}

/// The messages of `one` from the first to the last that `other` has heard as well. Both have the same, unless one of
/// them has missed a message, or heard it twice or in another order.
fn common<'a>(one: &'a [CableMessage], other: &[CableMessage]) -> &'a [CableMessage] {
    let is_common = |message: &CableMessage| other.contains(message);
    let first = one.iter().position(is_common);
    let last = one.iter().rposition(is_common);
    first
        .zip(last)
        .map_or(&[], |(first, last)| &one[first..=last])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(heard: &[&[u64]]) -> bool {
        let heard = heard.iter().map(|numbers| {
            let messages = numbers.iter().map(|number| CableMessage {
                client: 0,
                number: *number,
            });
            messages.collect()
        });
        let ledger = CableLedger {
            heard: heard.collect(),
            ..CableLedger::default()
        };
        ledger.fault(0).is_some()
    }

    #[test]
    fn clients_that_have_come_and_gone_have_heard_the_same_between() {
        assert!(!fault_of(&[&[1, 2, 3], &[2, 3, 4], &[], &[5, 6], &[4]]));
        for other in [&[1, 3][..], &[2, 1], &[1, 2, 2], &[1, 2, 7, 3]] {
            assert!(fault_of(&[&[1, 2, 3, 4], other]), "{other:?}");
        }
    }
}
