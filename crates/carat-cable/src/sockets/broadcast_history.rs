use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use crate::protocol::{message_end, message_start};
use crate::{HistoryPosition, HistoryRequest, text_frame};

/// The most bytes that are kept of one stream, and the most that a client is sent again at once. Its outbox has room
/// for twice that, since further messages are broadcast meanwhile.
pub const STREAM_HISTORY_LIMIT: usize = 128 * 1024;
/// The bytes of memory that a message, or a stream, takes in addition to its text.
const ENTRY_COST: usize = 160;

/// The last messages of all streams, for clients of the extended protocol that were away. A frame that also waits in
/// outboxes is shared with them, and not copied.
///
/// ```
/// use carat_cable::{BroadcastHistory, HistoryRequest};
///
/// let mut history = BroadcastHistory::new("e".into(), 300, 1 << 20);
/// history.expire(1_700_000_000);
/// history.keep_payload("chat", b"[1]");
/// let request = HistoryRequest { since: Some(1_700_000_000), ..HistoryRequest::default() };
/// let frames = history.replay("{}", &["chat".into()], &request, u64::MAX).expect("complete");
/// assert!(frames[0].ends_with(br#""message":[1],"stream_id":"chat","epoch":"e","offset":1}"#));
/// ```
#[derive(Debug)]
pub struct BroadcastHistory {
    epoch: Box<str>,
    /// Seconds for which messages are kept.
    keeps: u64,
    /// The most bytes of all messages.
    limit: usize,
    /// The Unix time in seconds, as last set by `expire`.
    now: u64,
    /// The first `now`: the history knows nothing of what was broadcast before.
    began: u64,
    last: u64,
    bytes: usize,
    messages: BTreeMap<u64, KeptMessage>,
    streams: HashMap<Rc<str>, KeptStream>,
    /// The number of the last forgotten message among the streams that have no message left.
    forgotten: u64,
    /// The time of the last message that was forgotten for want of room, before its time was over.
    evicted_at: u64,
}

#[derive(Debug)]
struct KeptMessage {
    stream: Rc<str>,
    at: u64,
    frame: Rc<[u8]>,
    payload: Range<usize>,
    /// Whether `frame` is in the extended protocol.
    is_extended: bool,
}

#[derive(Debug, Default)]
struct KeptStream {
    offsets: VecDeque<u64>,
    bytes: usize,
    /// The number of the last message of the stream that was forgotten.
    forgotten: u64,
    /// The time at which that message was broadcast.
    forgotten_at: u64,
}

impl KeptMessage {
    fn cost(&self) -> usize {
        self.frame.len() + ENTRY_COST
    }
}

impl BroadcastHistory {
    /// An empty history. Clients name its `epoch` with each offset, so that an offset of another
    /// history is not mistaken for one of this history.
    pub fn new(epoch: Box<str>, keeps: u64, limit: usize) -> BroadcastHistory {
        BroadcastHistory {
            epoch,
            keeps,
            limit,
            now: 0,
            began: 0,
            last: 0,
            bytes: 0,
            messages: BTreeMap::new(),
            streams: HashMap::new(),
            forgotten: 0,
            evicted_at: 0,
        }
    }

    /// The end of the next message's text in the extended protocol, behind the payload.
    pub(super) fn next_end(&self, stream: &str) -> String {
        message_end(stream, &self.epoch, self.last + 1)
    }

    /// The position of the last message.
    pub(super) fn position(&self) -> HistoryPosition {
        HistoryPosition {
            epoch: self.epoch.to_string(),
            offset: self.last,
        }
    }

    /// Bytes that the history holds.
    pub fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a message of a stream that no client receives now.
    pub fn keep_payload(&mut self, stream: &str, payload: &[u8]) {
        self.keep(stream, payload.into(), 0..payload.len(), false);
    }

    /// Keeps the next message as the frame that was sent. `payload` is the range of the frame that
    /// has the message's payload.
    pub(super) fn keep(
        &mut self,
        stream: &str,
        frame: Rc<[u8]>,
        payload: Range<usize>,
        is_extended: bool,
    ) {
        self.last += 1;
        let known = self.streams.get_key_value(stream);
        let stream = known.map_or_else(|| Rc::from(stream), |(known, _)| Rc::clone(known));
        let message = KeptMessage {
            stream: Rc::clone(&stream),
            at: self.now,
            frame,
            payload,
            is_extended,
        };
        let forgotten = self.forgotten;
        let mut added = message.cost();
        let kept = self.streams.entry(stream).or_insert_with_key(|stream| {
            added += stream.len() + ENTRY_COST;
            KeptStream {
                forgotten,
                ..KeptStream::default()
            }
        });
        kept.offsets.push_back(self.last);
        kept.bytes += message.cost();
        self.bytes += added;
        let stream = Rc::clone(&message.stream);
        self.messages.insert(self.last, message);
        self.shorten(&stream);
        self.shrink_to(self.limit);
    }

    /// Forgets the oldest messages of a stream that has too many bytes, so that it does not displace the others.
    fn shorten(&mut self, stream: &Rc<str>) {
        while let Some(kept) = self.streams.get(stream) {
            let Some(first) = kept.offsets.front() else {
                return;
            };
            if kept.bytes <= STREAM_HISTORY_LIMIT {
                return;
            }
            self.forget(*first);
        }
        self.evicted_at = self.now;
    }

    /// Forgets the oldest messages until no more than `bytes` are held.
    pub fn shrink_to(&mut self, bytes: usize) {
        while self.bytes > bytes {
            let Some((offset, oldest)) = self.messages.first_key_value() else {
                return;
            };
            self.evicted_at = oldest.at;
            self.forget(*offset);
        }
    }

    /// Sets the time to `now`, in Unix time, and forgets what is too old.
    pub fn expire(&mut self, now: u64) {
        self.now = now;
        if self.began == 0 {
            self.began = now;
        }
        let oldest = now.saturating_sub(self.keeps);
        while let Some((offset, message)) = self.messages.first_key_value() {
            if message.at >= oldest {
                return;
            }
            self.forget(*offset);
        }
    }

    fn forget(&mut self, offset: u64) {
        let Some(message) = self.messages.remove(&offset) else {
            return;
        };
        self.bytes -= message.cost();
        let Some(kept) = self.streams.get_mut(&message.stream) else {
            return;
        };
        kept.offsets.pop_front();
        kept.bytes -= message.cost();
        kept.forgotten = offset;
        kept.forgotten_at = message.at;
        if kept.offsets.is_empty() {
            self.forgotten = self.forgotten.max(offset);
            self.bytes -= message.stream.len() + ENTRY_COST;
            self.streams.remove(&message.stream);
        }
    }

    /// The messages up to the offset `until` that a subscription to these streams has missed, in
    /// the order in which they were broadcast. `None` if some are not kept any more, or if they are
    /// too many.
    pub fn replay(
        &self,
        identifier: &str,
        streams: &[Rc<str>],
        request: &HistoryRequest,
        until: u64,
    ) -> Option<Vec<Rc<[u8]>>> {
        let mut offsets = Vec::new();
        for stream in streams {
            self.missed(stream, request, &mut offsets)?;
        }
        offsets.retain(|offset| *offset <= until);
        offsets.sort_unstable();
        let (start, mut bytes) = (message_start(identifier), 0);
        let mut frames = Vec::with_capacity(offsets.len());
        for offset in offsets {
            let frame = self.frame(&start, offset)?;
            bytes += frame.len();
            if bytes > STREAM_HISTORY_LIMIT {
                return None;
            }
            frames.push(frame);
        }
        Some(frames)
    }

    fn missed(
        &self,
        stream: &Rc<str>,
        request: &HistoryRequest,
        offsets: &mut Vec<u64>,
    ) -> Option<()> {
        let kept = self.streams.get(stream);
        let forgotten_at = kept.map_or(0, |kept| kept.forgotten_at);
        let evicted_at = self.evicted_at.max(forgotten_at);
        let all = kept.map(|kept| &kept.offsets).into_iter().flatten();
        if let Some(position) = request.streams.get(&**stream) {
            let is_known = *position.epoch == *self.epoch && position.offset <= self.last;
            let forgotten = kept.map_or(self.forgotten, |kept| kept.forgotten);
            let from = self.began.max(self.now.saturating_sub(self.keeps));
            // The client has heard everything up to `since`, and all that came later is kept.
            let is_recent = |since| since >= from && since > evicted_at;
            if !is_known || position.offset < forgotten && !request.since.is_some_and(is_recent) {
                return None;
            }
            offsets.extend(all.filter(|offset| **offset > position.offset));
        } else if let Some(since) = request.since {
            if evicted_at > 0 && since <= evicted_at {
                return None;
            }
            let is_later =
                |offset: &&u64| self.messages.get(offset).is_some_and(|it| it.at >= since);
            offsets.extend(all.filter(is_later));
        }
        Some(())
    }

    fn frame(&self, start: &str, offset: u64) -> Option<Rc<[u8]>> {
        let message = self.messages.get(&offset)?;
        let before = &message.frame[..message.payload.start];
        if message.is_extended && before.ends_with(start.as_bytes()) {
            return Some(Rc::clone(&message.frame));
        }
        let payload = std::str::from_utf8(&message.frame[message.payload.clone()]).ok()?;
        let end = message_end(&message.stream, &self.epoch, offset);
        Some(text_frame(&[start, payload, &end].concat()).into())
    }
}

#[cfg(test)]
mod tests;
