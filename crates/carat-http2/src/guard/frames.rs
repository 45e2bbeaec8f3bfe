//! The frames that a client of HTTP/2 sends (RFC 9113, section 4): how many there are, and faults
//! that h2 does not tell from others.

use crate::guard::block_frame::BlockFrame;
use crate::guard::frame_parts::{FrameHeader, FramePart, FrameParts};
use crate::guard::hpack_block::{BlockError, HpackBlocks};

/// The bytes that a client sends before its first frame (RFC 9113, section 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most frames of overhead, which have neither a request nor a body, that a client may send at once.
pub(crate) const OVERHEAD_LIMIT: u32 = 1000;
/// How many more frames of overhead the client may send in each tick of 100 ms.
const TICK_CREDIT: u32 = 10;
/// How many more frames of overhead the client may send for each request, since a window update or a reset may follow.
const REQUEST_CREDIT: u32 = 4;
/// The number of bytes of bodies, in either direction, that allow one more frame of overhead. A client opens its window
/// in steps of at least this size.
const BYTES_CREDIT: usize = 256;
/// How many more frames of overhead the client may send for each piece that the application sends, however short. Some
/// clients return a window update for the stream and one for the connection.
const PIECE_CREDIT: u32 = 2;

const ACK: u8 = 0x1;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const HEADERS: u8 = 0x1;
const SETTINGS: u8 = 0x4;
const CONTINUATION: u8 = 0x9;
/// How far before the end of its header the flags of a frame are.
const FLAGS_FROM_END: usize = 5;

/// The largest header block that waits until it has come as a whole, in bytes. A larger block is passed on in parts:
/// if two reads divide a malformed field of it, the connection ends.
const BLOCK_LIMIT: usize = 32 * 1024;
/// The most frames of a header block that waits until it has come as a whole.
const BLOCK_FRAMES: usize = 8;

const SETTING_BYTES: usize = 6;
const INITIAL_WINDOW_SIZE: u64 = 4;
const WINDOW_LIMIT: u64 = (1 << 31) - 1;

/// Declares every fault once: its name, its code (RFC 9113, section 7), and its reason.
macro_rules! faults {
    ($($name:ident = $code:literal $reason:literal,)+) => {
        /// A fault of the client: it did something wrong, or something too often. The connection is closed after any
        /// of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FrameFault {
            $(#[doc = $reason] $name,)+
        }

        impl FrameFault {
            /// The fault in a few words.
            pub fn reason(self) -> &'static str {
                match self {
                    $(Self::$name => $reason,)+
                }
            }

            /// The code of the error.
            pub fn code(self) -> u32 {
                match self {
                    $(Self::$name => $code,)+
                }
            }
        }
    };
}

faults! {
    NoSettings = 0x1 "no SETTINGS at the beginning",
    PseudoFieldInTrailers = 0x1 "pseudo-header field in trailers",
    WindowSize = 0x3 "initial window beyond its limit",
    FrameSize = 0x6 "frame of a wrong size",
    Compression = 0x9 "malformed header block",
    EmptyData = 0xb "too many empty DATA frames",
    Priority = 0xb "too many PRIORITY frames",
    Reset = 0xb "too many resets",
    Settings = 0xb "too many SETTINGS frames",
    Ping = 0xb "too many PING frames",
    WindowUpdate = 0xb "too many window updates",
    Continuation = 0xb "too many CONTINUATION frames",
    Other = 0xb "too many frames of unknown types",
}

impl From<BlockError> for FrameFault {
    fn from(error: BlockError) -> FrameFault {
        match error {
            BlockError::Compression => FrameFault::Compression,
        }
    }
}

/// Counts the frames of one connection as their bytes arrive, and mends malformed fields of their
/// header blocks. Where h2 would end the connection, only the request with the malformed field is
/// refused. The guard copies 9 bytes a frame and allocates nothing.
///
/// ```
/// use carat_http2::{FrameFault, FrameGuard, PREFACE};
///
/// let mut frames = FrameGuard::new(0);
/// assert_eq!(frames.pass(&mut PREFACE.to_vec(), 0), Ok(24));
/// assert_eq!(frames.pass(&mut [0, 0, 0, 4, 0, 0, 0, 0, 0], 0), Ok(9));
/// let mut request = *b"\0\0\x06\x01\x05\0\0\0\x01\0\x01X\x02ab";
/// assert_eq!(frames.pass(&mut request[..10], 0), Ok(0));
/// assert_eq!(frames.pass(&mut request, 0), Ok(15));
/// assert!(request.ends_with(b"\"\x02ab"));
/// let ping = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
/// let flood = frames.pass(&mut ping.repeat(1001), 0);
/// assert!(matches!(flood, Err((FrameFault::Ping, _))));
/// ```
pub struct FrameGuard {
    parts: FrameParts,
    has_settings: bool,
    /// Whether CONTINUATION must follow.
    is_block_open: bool,
    blocks: HpackBlocks,
    /// The part of a header block in the current frame.
    block: Option<BlockFrame>,
    /// The index of the flags of the last HEADERS frame, in the bytes that are being passed.
    flags: Option<usize>,
    /// The last bytes of the settings in the current frame, and how many are still to come.
    setting: u64,
    settings_left: usize,
    /// The last stream that the client has begun.
    last_stream: u32,
    /// The last stream that the client has ended.
    ended_stream: u32,
    credit: u32,
    /// Bytes of bodies that have not earned a credit yet.
    bytes: usize,
    tick: u32,
}

impl FrameGuard {
    /// A guard for a new connection, which begins with the preface. `tick` is the time in ticks.
    pub fn new(tick: u32) -> Self {
        Self {
            parts: FrameParts::after(PREFACE.len()),
            has_settings: false,
            is_block_open: false,
            blocks: HpackBlocks::default(),
            block: None,
            flags: None,
            setting: 0,
            settings_left: 0,
            last_stream: 0,
            ended_stream: 0,
            credit: OVERHEAD_LIMIT,
            bytes: 0,
            tick,
        }
    }

    /// Checks and mends `bytes`, which follow those that were passed. Returns how many pass: an incomplete header
    /// block does not, and has to be offered again from its beginning. An error is final, and says how many bytes
    /// precede the fault.
    pub fn pass(&mut self, bytes: &mut [u8], tick: u32) -> Result<usize, (FrameFault, usize)> {
        let ticks = tick.saturating_sub(self.tick);
        self.tick = tick;
        self.earn(ticks.saturating_mul(TICK_CREDIT));
        self.flags = None;
        let mut at = 0;
        while at < bytes.len() && !self.must_wait(&bytes[at..]) {
            at = self.pass_part(bytes, at).map_err(|fault| (fault, at))?;
        }
        Ok(at)
    }

    /// Whether `rest` begins with a header block, or with what may be one, that is not complete.
    fn must_wait(&self, mut rest: &[u8]) -> bool {
        let (mut left, mut kind) = (BLOCK_LIMIT, HEADERS);
        for _ in 0..BLOCK_FRAMES * usize::from(!self.is_in_frame()) {
            let Some((header, payload)) = rest.split_first_chunk() else {
                return true;
            };
            let header = FrameHeader::of(*header);
            if header.kind != kind || header.length > left {
                return false;
            }
            left -= header.length;
            kind = CONTINUATION;
            match payload.get(header.length..) {
                Some(following) if header.flags & END_HEADERS == 0 => rest = following,
                complete => return complete.is_none(),
            }
        }
        false
    }

    /// Passes the part of a frame that begins at this index. Returns the index of the next part.
    fn pass_part(&mut self, bytes: &mut [u8], at: usize) -> Result<usize, FrameFault> {
        let mut rest = &bytes[at..];
        let part = self.parts.next(&mut rest);
        let end = bytes.len() - rest.len();
        match part {
            None => return Ok(end),
            Some(FramePart::Header(header)) => {
                if header.kind == HEADERS {
                    // Trailers after the end of a stream remain an error of the connection.
                    let is_open = header.stream != self.ended_stream;
                    self.flags = end.checked_sub(FLAGS_FROM_END).filter(|_| is_open);
                }
                if matches!(header.kind, 0x0 | HEADERS) && header.flags & END_STREAM != 0 {
                    self.ended_stream = header.stream;
                }
                self.begin_frame(header)?;
            }
            Some(FramePart::Payload(_)) => {
                self.pass_payload(&mut bytes[at..end])?;
                if self.block.is_some() && self.blocks.are_malformed_trailers() {
                    // h2 ignores pseudo-fields in trailers. Without END_STREAM, the trailers do not
                    // end their stream, and h2 resets it.
                    let flags = self.flags.and_then(|at| bytes.get_mut(at));
                    *flags.ok_or(FrameFault::PseudoFieldInTrailers)? &= !END_STREAM;
                }
            }
        }
        if self.block.as_ref().is_some_and(BlockFrame::ends_block) {
            self.block = None;
            self.blocks.end()?;
        }
        Ok(end)
    }

    /// Earns credit for bytes that the client was sent, and for which it may return window updates.
    pub fn note_sent(&mut self, bytes: usize) {
        self.bytes += bytes;
        let credit = self.bytes / BYTES_CREDIT;
        self.bytes %= BYTES_CREDIT;
        self.earn(u32::try_from(credit).unwrap_or(OVERHEAD_LIMIT));
    }

    /// Earns credit for pieces of responses that the client was sent, as the application made them.
    /// Parts of a piece earn nothing: otherwise, a client that opens its window by single bytes
    /// would earn a frame with each.
    pub fn note_pieces(&mut self, count: u32) {
        self.earn(count.saturating_mul(PIECE_CREDIT));
    }

    /// Whether a frame, or the headers of a request, have arrived in part.
    pub fn is_in_frame(&self) -> bool {
        self.parts.is_in_frame() || self.is_block_open
    }

    fn begin_frame(&mut self, header: FrameHeader) -> Result<(), FrameFault> {
        if !self.has_settings && (header.kind, header.flags & ACK) != (SETTINGS, 0) {
            return Err(FrameFault::NoSettings);
        }
        self.has_settings = true;
        if !has_its_size(header) {
            return Err(FrameFault::FrameSize);
        }
        let FrameHeader {
            length,
            kind,
            flags,
            stream,
        } = header;
        self.block = BlockFrame::of(header);
        self.settings_left = if kind == SETTINGS { length } else { 0 };
        match kind {
            0x0 if length == 0 && flags & END_STREAM == 0 => self.spend(FrameFault::EmptyData),
            0x0 => {
                self.note_sent(length);
                Ok(())
            }
            HEADERS => {
                self.blocks.begin(stream <= self.last_stream);
                self.last_stream = self.last_stream.max(stream);
                self.is_block_open = flags & END_HEADERS == 0;
                self.earn(REQUEST_CREDIT);
                Ok(())
            }
            0x2 => self.spend(FrameFault::Priority),
            0x3 => self.spend(FrameFault::Reset),
            SETTINGS => self.spend(FrameFault::Settings),
            0x6 => self.spend(FrameFault::Ping),
            0x8 => self.spend(FrameFault::WindowUpdate),
            CONTINUATION => {
                self.is_block_open = flags & END_HEADERS == 0;
                self.spend(FrameFault::Continuation)
            }
            _ => self.spend(FrameFault::Other),
        }
    }

    fn pass_payload(&mut self, payload: &mut [u8]) -> Result<(), FrameFault> {
        if let Some(block) = &mut self.block {
            return Ok(self.blocks.pass(block.take(payload))?);
        }
        for byte in payload.iter().take(self.settings_left) {
            self.setting = self.setting << 8 | u64::from(*byte);
            self.settings_left -= 1;
            let (id, value) = (self.setting >> 32 & 0xffff, self.setting & 0xffff_ffff);
            let is_complete = self.settings_left % SETTING_BYTES == 0;
            if is_complete && id == INITIAL_WINDOW_SIZE && value > WINDOW_LIMIT {
                return Err(FrameFault::WindowSize);
            }
        }
        Ok(())
    }

    fn earn(&mut self, credit: u32) {
        self.credit = self.credit.saturating_add(credit).min(OVERHEAD_LIMIT);
    }

    fn spend(&mut self, flood: FrameFault) -> Result<(), FrameFault> {
        self.credit = self.credit.checked_sub(1).ok_or(flood)?;
        Ok(())
    }
}

/// Whether the payload has a size that the type of the frame allows (RFC 9113, section 6).
fn has_its_size(header: FrameHeader) -> bool {
    let length = header.length;
    match header.kind {
        0x2 => length == 5,
        0x3 | 0x8 => length == 4,
        SETTINGS if header.flags & ACK != 0 => length == 0,
        SETTINGS => length % SETTING_BYTES == 0,
        0x6 => length == 8,
        0x7 => length >= 8,
        _ => true,
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

    /// A payload of this many bytes.
    fn sized(kind: u8) -> Vec<u8> {
        let bytes = [0, 1, 5, 4, 6, 0, 8, 8, 4, 0];
        vec![0; bytes.get(usize::from(kind)).copied().unwrap_or(0)]
    }

    fn opening() -> Vec<u8> {
        [PREFACE.to_vec(), frame(SETTINGS, 0, b"")].concat()
    }

    fn begun() -> FrameGuard {
        let mut guard = FrameGuard::new(0);
        assert_eq!(pass(&mut guard, &opening(), 0), Ok(()));
        guard
    }

    fn pass(guard: &mut FrameGuard, bytes: &[u8], tick: u32) -> Result<(), FrameFault> {
        let passed = guard.pass(&mut bytes.to_vec(), tick);
        passed
            .map(|count| assert_eq!(count, bytes.len()))
            .map_err(|(fault, _)| fault)
    }

    /// The bytes that the guard passes when they come in pieces of this size.
    fn passed(guard: &mut FrameGuard, bytes: &[u8], size: usize) -> Result<Vec<u8>, FrameFault> {
        let (mut passed, mut held) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(size) {
            held.extend_from_slice(piece);
            let count = guard.pass(&mut held, 0).map_err(|(fault, _)| fault)?;
            passed.extend(held.drain(..count));
        }
        Ok(passed)
    }

    #[test]
    fn every_kind_of_frame_without_a_request_or_a_body_can_be_a_flood() {
        let floods = [
            (0x0, FrameFault::EmptyData),
            (0x2, FrameFault::Priority),
            (0x3, FrameFault::Reset),
            (0x4, FrameFault::Settings),
            (PING, FrameFault::Ping),
            (0x7, FrameFault::Other),
            (0x8, FrameFault::WindowUpdate),
            (0x9, FrameFault::Continuation),
            (0xff, FrameFault::Other),
        ];
        for (kind, flood) in floods {
            let mut guard = begun();
            let mut bytes = frame(kind, 0, &sized(kind));
            for _ in 0..OVERHEAD_LIMIT - 1 {
                assert_eq!(pass(&mut guard, &bytes, 0), Ok(()));
            }
            assert_eq!(guard.pass(&mut bytes, 0), Err((flood, 0)));
            assert_eq!(flood.code(), 0xb);
            assert!(!flood.reason().is_empty());
        }
    }

    #[test]
    fn requests_bodies_and_time_allow_more_frames() {
        let mut guard = begun();
        for tick in 0..100 {
            for _ in 0..100 {
                assert_eq!(
                    pass(&mut guard, &frame(0x1, END_HEADERS, b"\x90"), tick),
                    Ok(())
                );
                for _ in 0..REQUEST_CREDIT {
                    assert_eq!(pass(&mut guard, &frame(0x8, 0, &[0; 4]), tick), Ok(()));
                }
                guard.note_sent(10 * BYTES_CREDIT);
                let pings = frame(PING, 0, &[0; 8]).repeat(10);
                assert_eq!(pass(&mut guard, &pings, tick), Ok(()));
            }
        }
        let pings = frame(PING, 0, &[0; 8]).repeat(TICK_CREDIT as usize);
        for tick in 100..1000 {
            assert_eq!(pass(&mut guard, &pings, tick), Ok(()));
        }
    }

    #[test]
    fn each_piece_of_a_response_allows_window_updates_for_stream_and_connection() {
        let mut guard = begun();
        let updates = frame(0x8, 0, &[0; 4]).repeat(PIECE_CREDIT as usize);
        for _ in 0..10 * OVERHEAD_LIMIT {
            guard.note_pieces(1);
            assert_eq!(pass(&mut guard, &updates, 0), Ok(()));
        }
    }

    #[test]
    fn what_was_not_used_cannot_be_saved_up() {
        let mut guard = begun();
        guard.note_sent(1 << 30);
        guard.note_pieces(u32::MAX);
        let pings = frame(PING, 0, &[0; 8]).repeat(OVERHEAD_LIMIT as usize + 1);
        assert_eq!(pass(&mut guard, &pings, 1_000_000), Err(FrameFault::Ping));
    }

    #[test]
    fn frames_may_come_in_pieces_of_any_size() {
        let mut bytes = opening();
        bytes.extend(frame(0x1, 0, b"\x40\x01x"));
        bytes.extend(frame(0x9, END_HEADERS, b"\x01y"));
        bytes.extend(frame(0x0, END_STREAM, b"body"));
        for size in 1..bytes.len() {
            let mut guard = FrameGuard::new(0);
            assert_eq!(passed(&mut guard, &bytes, size).as_ref(), Ok(&bytes));
            assert!(!guard.is_in_frame());
        }
    }

    #[test]
    fn headers_without_their_end_are_incomplete() {
        let begin = frame(HEADERS, 0, b"\x40\x01x");
        let mut all = [&begin[..], &frame(CONTINUATION, END_HEADERS, b"\x01y")].concat();
        let mut guard = begun();
        for part in 1..all.len() {
            assert_eq!(guard.pass(&mut all.clone()[..part], 0), Ok(0));
        }
        assert_eq!(guard.pass(&mut all, 0), Ok(all.len()));
    }

    #[test]
    fn large_headers_do_not_wait_for_their_end() {
        let large = [0, 0x80, 1, HEADERS, END_HEADERS, 0, 0, 0, 1, 0x90];
        let divided = frame(HEADERS, 0, b"\x90").into_iter();
        let divided = divided.chain(frame(CONTINUATION, 0, b"").repeat(BLOCK_FRAMES - 1));
        for bytes in [large.to_vec(), divided.collect()] {
            let mut guard = begun();
            assert_eq!(pass(&mut guard, &bytes, 0), Ok(()));
            assert!(guard.is_in_frame());
        }
    }

    #[test]
    fn a_block_may_be_padded_prioritized_and_continued() {
        const BAD: &[u8] = b"\x10\x01X\x00";
        const MENDED: &[u8] = b"\x10\x01\"\x00";
        let frames = |block: &[u8]| {
            [
                frame(0x1, END_HEADERS | 0x8, &[&[3], block, b"###"].concat()),
                frame(
                    0x1,
                    END_HEADERS | 0x28,
                    &[&[2, 0, 0, 0, 0, 9], block, b"##"].concat(),
                ),
                frame(0x1, END_HEADERS | 0x20, &[&[0, 0, 0, 0, 9], block].concat()),
                frame(0x1, 0, &block[..2]),
                frame(0x9, 0, b""),
                frame(0x9, END_HEADERS, &block[2..]),
                frame(0x0, END_STREAM, BAD),
                frame(0x1, END_HEADERS, b""),
                frame(0x1, END_HEADERS, block),
            ]
            .concat()
        };
        let bytes = [opening(), frames(BAD)].concat();
        let expected = [opening(), frames(MENDED)].concat();
        for size in 1..=bytes.len() {
            let all = passed(&mut FrameGuard::new(0), &bytes, size);
            assert_eq!(all.as_ref(), Ok(&expected), "pieces of {size}");
        }
    }

    #[test]
    fn errors_have_the_codes_of_the_rfc() {
        for (bytes, fault, code) in [
            (frame(SETTINGS, 0, b"12345"), FrameFault::FrameSize, 6),
            (frame(SETTINGS, ACK, b"123456"), FrameFault::FrameSize, 6),
            (frame(PING, 0, b"short"), FrameFault::FrameSize, 6),
            (frame(0x2, 0, b"1234"), FrameFault::FrameSize, 6),
            (frame(0x3, 0, b"12345"), FrameFault::FrameSize, 6),
            (frame(0x7, 0, b"1234567"), FrameFault::FrameSize, 6),
            (frame(0x8, 0, b"12345"), FrameFault::FrameSize, 6),
            (
                frame(SETTINGS, 0, &[0, 2, 0, 0, 0, 0, 0, 4, 0x80, 0, 0, 0]),
                FrameFault::WindowSize,
                3,
            ),
            (frame(0x1, END_HEADERS, b"\x80"), FrameFault::Compression, 9),
            (
                frame(0x1, END_HEADERS, b"\x00\x05a"),
                FrameFault::Compression,
                9,
            ),
        ] {
            assert_eq!(pass(&mut begun(), &bytes, 0), Err(fault), "{bytes:x?}");
            assert_eq!(fault.code(), code);
        }
        let valid = frame(SETTINGS, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]);
        assert_eq!(pass(&mut begun(), &valid, 0), Ok(()));
    }

    #[test]
    fn a_connection_begins_with_settings() {
        for first in [frame(PING, 0, &[0; 8]), frame(SETTINGS, ACK, b"")] {
            let bytes = [PREFACE.to_vec(), first].concat();
            assert_eq!(
                pass(&mut FrameGuard::new(0), &bytes, 0),
                Err(FrameFault::NoSettings)
            );
        }
    }

    #[test]
    fn trailers_may_not_have_pseudo_fields() {
        let request = frame(HEADERS, END_HEADERS, b"\x82");
        let trailers = |flags| frame(HEADERS, END_HEADERS | flags, b"\x90\x82");
        let with = |flags| [&request[..], &trailers(flags), &frame(0x0, 0, b"x")].concat();
        for size in 1..=with(0).len() {
            let all = passed(&mut begun(), &with(END_STREAM), size);
            assert_eq!(all, Ok(with(0)), "pieces of {size}");
        }
        let refused = Err(FrameFault::PseudoFieldInTrailers);
        let mut guard = begun();
        let ended = frame(HEADERS, END_HEADERS | END_STREAM, b"\x82");
        assert_eq!(pass(&mut guard, &ended.repeat(2), 0), refused);
    }
}
