//! Frames of the control socket between the edge and a Ruby process.

use crate::Malformed;
pub use crate::codec::TEXT_LIMIT;
use crate::codec::{Cursor, push_short, push_text};
use crate::frame::{self, Kind, message};
use crate::stream::decode_id;

/// The longest list of source files, in bytes.
pub const SOURCES_LIMIT: usize = 4 * 1024 * 1024;

/// The longest profile, in bytes. Together with what the edge adds, it is within the limit of the clients of the
/// control socket.
pub const PROFILE_LIMIT: usize = 7 * 1024 * 1024;

/// The longest [`OneOff`](Kind::OneOff) in bytes: names and values of variables, and the words of a command.
pub const ONE_OFF_LIMIT: usize = 128 * 1024;

/// The longest subject of a [`PartMessage`], in bytes.
pub const PART_SUBJECT_LIMIT: usize = 1024;

/// The longest content of a [`PartMessage`], in bytes.
pub const PART_CONTENT_LIMIT: usize = 1024 * 1024;

/// How many descriptors travel with a [`OneOff`](Kind::OneOff).
pub const ONE_OFF_DESCRIPTORS: usize = 3;

message! {
    /// Edge to mold: fork a worker.
    ///
    /// `1 + 2 * lanes` descriptors travel with the frame: the worker's control socket, then the socket and
    /// the page of each lane (see [`Page`](crate::Page)).
    ForkWorker {
        /// The worker's number in logs.
        worker: u32,
        /// The worker's generation.
        generation: u32,
        /// Number of lanes.
        lanes: u16,
    }
}

impl ForkWorker {
    /// How many descriptors travel with the frame.
    pub fn descriptors(&self) -> usize {
        1 + 2 * usize::from(self.lanes)
    }
}

message! {
    /// Edge to mold: fork a further process of the application. Its control socket travels with the frame.
    ForkApp<'a> {
        /// The number of the process among those of its name; 0 if it measures their load instead.
        number: u32,
        /// The generation of the mold.
        generation: u32,
    }
    /// The name of the block of the config file that the process runs.
    then name
}

message! {
    /// The stack of a request: the reply to [`AskStack`].
    Stack<'a> {
        /// The index of the lane in its worker.
        lane: u16,
        /// The request's id on the lane.
        request: u32,
    }
    /// The text: a line that says what the request waits for, and a line for each call of its stack, cut to
    /// [`TEXT_LIMIT`].
    then text
}

/// Ruby process to edge: a message to a part of the edge. Only the part knows its meaning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PartMessage<'a> {
    /// The name of the part.
    pub part: &'a str,
    /// At most [`PART_SUBJECT_LIMIT`] bytes.
    pub subject: &'a [u8],
    /// At most [`PART_CONTENT_LIMIT`] bytes.
    pub content: &'a [u8],
}

impl<'a> PartMessage<'a> {
    /// Appends the frame to `out`. Returns false, and appends nothing, when a limit is exceeded.
    #[must_use]
    pub fn encode(&self, out: &mut Vec<u8>) -> bool {
        let fits = self.part.len() <= PART_SUBJECT_LIMIT
            && self.subject.len() <= PART_SUBJECT_LIMIT
            && self.content.len() <= PART_CONTENT_LIMIT;
        if fits {
            frame::push(out, Kind::PartMessage, |out| {
                push_short(out, self.part.as_bytes());
                push_short(out, self.subject);
                out.extend_from_slice(self.content);
            });
        }
        fits
    }

    /// Reads the payload.
    pub fn decode(payload: &'a [u8]) -> Result<PartMessage<'a>, Malformed> {
        let mut cursor = Cursor::new(payload);
        let part = std::str::from_utf8(cursor.short()?);
        Ok(PartMessage {
            part: part.map_err(|_| Malformed::BadValue("name of a part"))?,
            subject: cursor.short()?,
            content: cursor.rest(),
        })
    }
}

message! {
    /// Edge to worker: send the stack of a request.
    AskStack {
        /// The index of the lane in its worker.
        lane: u16,
        /// The request's id on the lane.
        request: u32,
    }
}

message! {
    /// Worker to edge: the full garbage collection that the edge ordered is done.
    Collected {
        /// How long the collection took, in microseconds; 0 if there was none, because the application manages its own
        /// collector.
        micros: u32,
    }
}

message! {
    /// Edge to a client: its one-off process has ended.
    Exited {
        /// 1 if a signal ended the process, else 0.
        is_signal: u8,
        /// The number of the signal, or the exit status.
        number: u32,
    }
}

/// Appends the order to run on the standard streams of a client.
pub fn encode_one_off(out: &mut Vec<u8>, order: &[u8]) {
    frame::push(out, Kind::OneOff, |out| out.extend_from_slice(order));
}

/// Reads the number of a signal that a client has sent.
pub fn decode_signal(payload: &[u8]) -> Result<u32, Malformed> {
    decode_id(payload)
}

/// Appends why a boot failed: one or more lines of text, cut to [`TEXT_LIMIT`].
pub fn encode_boot_failed(out: &mut Vec<u8>, text: &[u8]) {
    frame::push(out, Kind::BootFailed, |out| push_text(out, text));
}

/// Appends why no worker of this generation can become a mold, or why this worker cannot become one now: text, cut to
/// [`TEXT_LIMIT`].
pub fn encode_not_fork_safe(out: &mut Vec<u8>, text: &[u8]) {
    frame::push(out, Kind::NotForkSafe, |out| push_text(out, text));
}

/// Appends the command to become the mold of this generation.
pub fn encode_promote(out: &mut Vec<u8>, generation: u32) {
    frame::push_number(out, Kind::Promote, generation);
}

/// Reads the generation whose mold the worker is to become.
pub fn decode_promote(payload: &[u8]) -> Result<u32, Malformed> {
    decode_id(payload)
}

/// Appends the statistics of a process: a JSON object of at most [`TEXT_LIMIT`] bytes; a longer one becomes empty.
pub fn encode_stats(out: &mut Vec<u8>, json: &[u8]) {
    frame::push(out, Kind::Stats, |out| {
        out.extend_from_slice(if json.len() > TEXT_LIMIT { b"{}" } else { json });
    });
}

/// Appends the files of the application's code: a JSON object of at most [`SOURCES_LIMIT`] bytes; a longer one becomes
/// empty.
pub fn encode_sources(out: &mut Vec<u8>, json: &[u8]) {
    frame::push(out, Kind::Sources, |out| {
        out.extend_from_slice(if json.len() > SOURCES_LIMIT {
            b"{}"
        } else {
            json
        });
    });
}

/// The events that a worker samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sampling {
    /// The interval between two samples, in allocated bytes or in microseconds of a clock; `None` if the worker decides.
    pub interval: Option<u64>,
    /// The clocks to sample, as bits whose meaning the gem carat-lab knows; 0 to sample allocations.
    pub clocks: u8,
}

/// Appends the command to begin a profile.
pub fn encode_begin_profile(out: &mut Vec<u8>, sampling: Sampling) {
    frame::push(out, Kind::BeginProfile, |out| {
        out.extend_from_slice(&sampling.interval.unwrap_or(0).to_le_bytes());
        out.push(sampling.clocks);
    });
}

/// Reads which events to sample.
pub fn decode_begin_profile(payload: &[u8]) -> Result<Sampling, Malformed> {
    let mut cursor = Cursor::new(payload);
    let (interval, clocks) = (cursor.u64()?, cursor.u8()?);
    cursor.end()?;
    let interval = (interval != 0).then_some(interval);
    Ok(Sampling { interval, clocks })
}

/// Appends the load of the processes of a name.
pub fn encode_load(out: &mut Vec<u8>, load: f64) {
    frame::push(out, Kind::Load, |out| {
        out.extend_from_slice(&load.to_bits().to_le_bytes());
    });
}

/// Reads the load: a finite number of 0 or more.
pub fn decode_load(payload: &[u8]) -> Result<f64, Malformed> {
    let mut cursor = Cursor::new(payload);
    let load = f64::from_bits(cursor.u64()?);
    cursor.end()?;
    if load.is_finite() && load >= 0.0 {
        Ok(load)
    } else {
        Err(Malformed::BadValue("load"))
    }
}

/// Appends a profile: a JSON object of at most [`PROFILE_LIMIT`] bytes; a longer one becomes an error.
pub fn encode_profile(out: &mut Vec<u8>, json: &[u8]) {
    frame::push(out, Kind::Profile, |out| {
        out.extend_from_slice(if json.len() > PROFILE_LIMIT {
            br#"{"error":"the profile is too large; take a shorter one"}"#
        } else {
            json
        });
    });
}

/// Appends a frame without a payload: ready, drain, bye, leaving, ask stats, ask fork safety, fork
/// safe, trim memory, end profile, lingers, begin, collect, decline collection.
pub fn encode_signal(out: &mut Vec<u8>, kind: Kind) {
    debug_assert!(matches!(
        kind,
        Kind::Ready
            | Kind::Drain
            | Kind::Bye
            | Kind::Leaving
            | Kind::AskStats
            | Kind::AskForkSafety
            | Kind::ForkSafe
            | Kind::TrimMemory
            | Kind::EndProfile
            | Kind::Lingers
            | Kind::Begin
            | Kind::Collect
            | Kind::DeclineCollection
    ));
    frame::push_empty(out, kind);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    #[test]
    fn a_profile_longer_than_its_limit_is_an_error() {
        let mut bytes = Vec::new();
        encode_profile(&mut bytes, &vec![b' '; PROFILE_LIMIT + 1]);
        let frame = Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        assert_eq!(frame.kind, Kind::Profile);
        assert!(frame.payload.starts_with(br#"{"error":"#));
    }

    #[test]
    fn a_list_of_files_longer_than_its_limit_is_empty() {
        let mut bytes = Vec::new();
        encode_sources(&mut bytes, &vec![b' '; SOURCES_LIMIT + 1]);
        let frame = Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        assert_eq!((frame.kind, frame.payload), (Kind::Sources, &b"{}"[..]));
    }

    #[test]
    fn a_message_for_a_part_has_a_limit() {
        let content = vec![b' '; PART_CONTENT_LIMIT + 1];
        let subject = "x".repeat(PART_SUBJECT_LIMIT + 1);
        let encodes = |name: usize, subject_length: usize, length: usize| {
            let mut out = Vec::new();
            let message = PartMessage {
                part: &subject[..name],
                subject: &subject.as_bytes()[..subject_length],
                content: &content[..length],
            };
            let fits = message.encode(&mut out);
            assert_eq!(fits, !out.is_empty());
            fits
        };
        let limit = PART_SUBJECT_LIMIT;
        assert!(encodes(limit, limit, PART_CONTENT_LIMIT));
        assert!(!encodes(limit + 1, 1, 1) && !encodes(1, limit + 1, 1));
        assert!(!encodes(1, 1, PART_CONTENT_LIMIT + 1));
    }

    #[test]
    fn a_stack_longer_than_its_limit_is_cut() {
        let text = vec![b'x'; TEXT_LIMIT + 1];
        let mut bytes = Vec::new();
        Stack {
            lane: 1,
            request: 1,
            text: &text,
        }
        .encode(&mut bytes);
        let frame = Frame::first(&bytes)
            .expect("well formed")
            .expect("complete");
        let found = Stack::decode(frame.payload)
            .expect("well formed")
            .text
            .len();
        assert_eq!(found, TEXT_LIMIT);
    }
}
