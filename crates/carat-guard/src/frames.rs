//! The frames of an HTTP/2 connection (RFC 9113, section 4), as far as floods are concerned.

use crate::frame_parts::{FrameHeader, FramePart, FrameParts};

/// What a client sends before its first frame (RFC 9113, section 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Frames that carry neither a request nor a body which a client may send at once.
pub(crate) const OVERHEAD_LIMIT: u32 = 1000;
/// How many more it may send in each tick of 100 ms.
const TICK_CREDIT: u32 = 10;
/// How many more it may send for each request. A window update or a reset may follow.
const REQUEST_CREDIT: u32 = 4;
/// How many bytes of bodies, in either direction, allow one more: the smallest step of a window update.
const BYTES_CREDIT: usize = 256;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

/// Declares every flood once: its name and its reason.
macro_rules! floods {
    ($($name:ident = $reason:literal,)+) => {
        /// Which frames a client has sent too many of. The connection is closed after any of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FrameFlood {
            $(#[doc = $reason] $name,)+
        }

        impl FrameFlood {
            /// What is wrong, in a few words.
            #[must_use]
            pub fn reason(self) -> &'static str {
                match self {
                    $(Self::$name => $reason,)+
                }
            }
        }
    };
}

floods! {
    EmptyData = "too many empty DATA frames",
    Priority = "too many PRIORITY frames",
    Reset = "too many resets",
    Settings = "too many SETTINGS frames",
    Ping = "too many PING frames",
    WindowUpdate = "too many window updates",
    Continuation = "too many CONTINUATION frames",
    Other = "too many frames of unknown types",
    Fragment = "too many requests with a fragment",
}

/// Counts the frames of one connection as their bytes arrive. It copies 9 bytes a frame and allocates nothing.
///
/// ```
/// use carat_guard::{FrameFlood, FrameGuard, PREFACE};
///
/// let mut frames = FrameGuard::new(0);
/// assert_eq!(frames.pass(PREFACE, 0), Ok(()));
/// let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
/// assert_eq!(frames.pass(&ping, 0), Ok(()));
/// assert_eq!(frames.pass(&ping.repeat(1000), 0), Err(FrameFlood::Ping));
/// ```
#[derive(Debug)]
pub struct FrameGuard {
    parts: FrameParts,
    /// Whether CONTINUATION must follow.
    is_block_open: bool,
    credit: u32,
    /// Bytes of bodies that did not suffice for one more credit.
    bytes: usize,
    tick: u32,
}

impl FrameGuard {
    /// A guard for a new connection, which begins with the preface. `tick` is the time.
    #[must_use]
    pub fn new(tick: u32) -> Self {
        Self {
            parts: FrameParts::after(PREFACE.len()),
            is_block_open: false,
            credit: OVERHEAD_LIMIT,
            bytes: 0,
            tick,
        }
    }

    /// Counts the frames in `bytes`, which follow those of the last call. An error is final.
    pub fn pass(&mut self, mut bytes: &[u8], tick: u32) -> Result<(), FrameFlood> {
        let ticks = tick.saturating_sub(self.tick);
        self.tick = tick;
        self.earn(ticks.saturating_mul(TICK_CREDIT));
        while let Some(part) = self.parts.next(&mut bytes) {
            if let FramePart::Header(header) = part {
                self.begin_frame(header)?;
            }
        }
        Ok(())
    }

    /// The client was sent this many bytes, for which it may return window updates.
    pub fn note_sent(&mut self, bytes: usize) {
        self.bytes += bytes;
        let credit = self.bytes / BYTES_CREDIT;
        self.bytes %= BYTES_CREDIT;
        self.earn(u32::try_from(credit).unwrap_or(OVERHEAD_LIMIT));
    }

    /// Whether a frame, or the headers of a request, have arrived in part.
    #[must_use]
    pub fn is_in_frame(&self) -> bool {
        self.parts.is_in_frame() || self.is_block_open
    }

    fn begin_frame(&mut self, header: FrameHeader) -> Result<(), FrameFlood> {
        let FrameHeader {
            length,
            kind,
            flags,
            ..
        } = header;
        match kind {
            0x0 if length == 0 && flags & END_STREAM == 0 => self.spend(FrameFlood::EmptyData),
            0x0 => {
                self.note_sent(length);
                Ok(())
            }
            0x1 => {
                self.is_block_open = flags & END_HEADERS == 0;
                self.earn(REQUEST_CREDIT);
                Ok(())
            }
            0x2 => self.spend(FrameFlood::Priority),
            0x3 => self.spend(FrameFlood::Reset),
            0x4 => self.spend(FrameFlood::Settings),
            0x6 => self.spend(FrameFlood::Ping),
            0x8 => self.spend(FrameFlood::WindowUpdate),
            0x9 => {
                self.is_block_open = flags & END_HEADERS == 0;
                self.spend(FrameFlood::Continuation)
            }
            _ => self.spend(FrameFlood::Other),
        }
    }

    fn earn(&mut self, credit: u32) {
        self.credit = self.credit.saturating_add(credit).min(OVERHEAD_LIMIT);
    }

    fn spend(&mut self, flood: FrameFlood) -> Result<(), FrameFlood> {
        self.credit = self.credit.checked_sub(1).ok_or(flood)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 0x6;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("short");
        let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, 1];
        frame.extend_from_slice(payload);
        frame
    }

    fn begun() -> FrameGuard {
        let mut guard = FrameGuard::new(0);
        assert_eq!(guard.pass(PREFACE, 0), Ok(()));
        guard
    }

    #[test]
    fn every_kind_of_frame_without_a_request_or_a_body_can_be_a_flood() {
        let floods = [
            (0x0, FrameFlood::EmptyData),
            (0x2, FrameFlood::Priority),
            (0x3, FrameFlood::Reset),
            (0x4, FrameFlood::Settings),
            (PING, FrameFlood::Ping),
            (0x7, FrameFlood::Other),
            (0x8, FrameFlood::WindowUpdate),
            (0x9, FrameFlood::Continuation),
            (0xff, FrameFlood::Other),
        ];
        for (kind, flood) in floods {
            let mut guard = begun();
            for _ in 0..OVERHEAD_LIMIT {
                assert_eq!(guard.pass(&frame(kind, 0, b""), 0), Ok(()));
            }
            assert_eq!(guard.pass(&frame(kind, 0, b""), 0), Err(flood));
            assert!(!flood.reason().is_empty());
        }
    }

    #[test]
    fn requests_bodies_and_time_allow_more_frames() {
        let mut guard = begun();
        for tick in 0..100 {
            for _ in 0..100 {
                assert_eq!(guard.pass(&frame(0x1, END_HEADERS, b"x"), tick), Ok(()));
                for _ in 0..REQUEST_CREDIT {
                    assert_eq!(guard.pass(&frame(0x8, 0, &[0; 4]), tick), Ok(()));
                }
                guard.note_sent(10 * BYTES_CREDIT);
                assert_eq!(
                    guard.pass(&frame(PING, 0, &[0; 8]).repeat(10), tick),
                    Ok(())
                );
            }
        }
        let pings = frame(PING, 0, &[0; 8]).repeat(TICK_CREDIT as usize);
        for tick in 100..1000 {
            assert_eq!(guard.pass(&pings, tick), Ok(()));
        }
    }

    #[test]
    fn what_was_not_used_cannot_be_saved_up() {
        let mut guard = begun();
        guard.note_sent(1 << 30);
        let pings = frame(PING, 0, &[0; 8]).repeat(OVERHEAD_LIMIT as usize + 1);
        assert_eq!(guard.pass(&pings, 1_000_000), Err(FrameFlood::Ping));
    }

    #[test]
    fn frames_may_come_in_pieces_of_any_size() {
        let mut bytes = PREFACE.to_vec();
        bytes.extend(frame(0x1, 0, b"abc"));
        bytes.extend(frame(0x9, END_HEADERS, b"de"));
        bytes.extend(frame(0x0, END_STREAM, b"body"));
        for size in 1..bytes.len() {
            let mut guard = FrameGuard::new(0);
            for piece in bytes.chunks(size) {
                assert_eq!(guard.pass(piece, 0), Ok(()));
            }
            assert!(!guard.is_in_frame());
        }
    }

    #[test]
    fn headers_without_their_end_are_incomplete() {
        let mut guard = begun();
        assert_eq!(guard.pass(&frame(0x1, 0, b"abc"), 0), Ok(()));
        assert!(guard.is_in_frame());
        assert_eq!(guard.pass(&frame(0x9, END_HEADERS, b"d"), 0), Ok(()));
        assert!(!guard.is_in_frame());
    }
}
