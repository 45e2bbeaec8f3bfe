use std::collections::VecDeque;
use std::rc::Rc;

use super::BroadcastHistory;
use crate::Payload;
use crate::sockets::history_copy::{HistoryItem, HistoryRecord, KeptBroadcast};

/// More messages than any server counts: JavaScript has no whole numbers beyond.
const LARGEST_OFFSET: u64 = 1 << 53;
/// Bytes of the name of a history.
const LONGEST_EPOCH: usize = 64;

/// A history goes from one edge to another, which goes on with its numbers.
///
/// ```
/// use carat_cable::{BroadcastHistory, HistoryRequest};
///
/// let mut old = BroadcastHistory::new("e".into(), 300, 1 << 20);
/// old.keep_payload("chat", b"[1]");
/// let mut new = BroadcastHistory::new("f".into(), 300, 1 << 20);
/// let (items, record) = old.copy();
/// assert!(items.iter().all(|item| new.keep_again(&item.broadcast())));
/// assert!(new.go_on(&record));
/// let request = HistoryRequest::parse(r#"{"streams":{"chat":{"epoch":"e","offset":0}}}"#);
/// let frames = new.replay("{}", &["chat".into()], &request.expect("a request"), u64::MAX);
/// assert_eq!(frames.expect("complete").len(), 1);
/// ```
impl BroadcastHistory {
    /// All that is kept, in its order, and where the history stands.
    pub fn copy(&self) -> (VecDeque<HistoryItem>, HistoryRecord) {
        let items = self.messages.iter().map(|(offset, message)| {
            let kept = self.streams.get(&message.stream);
            HistoryItem {
                offset: *offset,
                at: message.at,
                forgotten: kept.map_or((0, 0), |kept| (kept.forgotten, kept.forgotten_at)),
                stream: Rc::clone(&message.stream),
                frame: Rc::clone(&message.frame),
                payload: message.payload.clone(),
            }
        });
        let record = HistoryRecord {
            epoch: self.epoch.clone(),
            began: self.began,
            last: self.last,
            forgotten: self.forgotten,
            evicted_at: self.evicted_at,
        };
        (items.collect(), record)
    }

    /// Forgets all, and begins as another one: nobody knows what was broadcast until now.
    pub fn restart(&mut self, epoch: Box<str>) {
        let now = self.now;
        *self = BroadcastHistory::new(epoch, self.keeps, self.limit);
        (self.now, self.began, self.evicted_at) = (now, now, now);
    }

    /// Keeps the next message of another history. False if it is none.
    pub fn keep_again(&mut self, kept: &KeptBroadcast<'_>) -> bool {
        let is_next = kept.offset > self.last && kept.offset < LARGEST_OFFSET;
        let Some(payload) = Payload::parse(kept.message).filter(|_| is_next) else {
            return false;
        };
        let now = std::mem::replace(&mut self.now, kept.at);
        self.last = kept.offset - 1;
        self.keep_payload(kept.stream, payload.as_str().as_bytes());
        self.now = now;
        let (forgotten, forgotten_at) = kept.forgotten;
        if let Some(stream) = self.streams.get_mut(kept.stream) {
            stream.forgotten = stream.forgotten.max(forgotten);
            stream.forgotten_at = stream.forgotten_at.max(forgotten_at);
        }
        true
    }

    /// Goes on in place of the history whose messages are kept now. False if that is none.
    pub fn go_on(&mut self, record: &HistoryRecord) -> bool {
        let name = &record.epoch;
        let is_name =
            name.len() <= LONGEST_EPOCH && name.bytes().all(|it| it.is_ascii_alphanumeric());
        let is_valid = is_name && record.last >= self.last && record.last < LARGEST_OFFSET;
        if is_valid {
            self.epoch.clone_from(name);
            (self.began, self.last) = (record.began, record.last);
            self.forgotten = self.forgotten.max(record.forgotten);
            self.evicted_at = self.evicted_at.max(record.evicted_at);
        }
        is_valid
    }
}
