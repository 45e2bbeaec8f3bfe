use std::rc::Rc;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::CloseCode;
use super::frames::deflated_frame;

/// The length in bytes up to which a text is not compressed, because that saves too little.
const LEAST_BYTES: usize = 256;
/// The most bytes of text that are compressed for one broadcast, or for one result of the application. Texts beyond it
/// are sent plain. Clients choose their identifiers, and each identifier makes another text of a broadcast, so the work
/// for one broadcast needs a bound.
pub const DEFLATE_LIMIT: usize = 256 * 1024;
/// The share of `DEFLATE_LIMIT` that a text takes in addition to its bytes: the compressor is reset for each.
const TEXT_COST: usize = 4096;
/// The level of compression. 3.5 KB of Turbo Streams become 667 bytes in 16 us; at level 1, 909
/// bytes in 5 us; at level 9, 666 bytes in 21 us.
const LEVEL: u32 = 5;
/// The bytes that a message leaves out at its end (RFC 7692, section 7.2.1), and a block that ends the stream.
const END: [u8; 9] = [0, 0, 0xFF, 0xFF, 1, 0, 0, 0xFF, 0xFF];

/// Compresses and decompresses messages (RFC 7692), each independently of the others. One coder
/// serves all clients, so that its memory is needed once.
///
/// ```
/// use carat_cable::{CloseCode, MessageCoder};
///
/// let mut coder = MessageCoder::default();
/// assert_eq!(coder.inflate(b"\xF2\x48\xCD\xC9\xC9\x07\0".to_vec(), 5), Ok("Hello".into()));
/// assert_eq!(coder.inflate(b"\xF2\x48\xCD\xC9\xC9\x07\0".to_vec(), 4), Err(CloseCode::MESSAGE_TOO_BIG));
/// assert_eq!(coder.inflate(b"Hello".to_vec(), 5), Err(CloseCode::INVALID_PAYLOAD));
/// ```
#[derive(Debug, Default)]
pub struct MessageCoder {
    deflater: Option<Compress>,
    inflater: Option<Decompress>,
}

impl MessageCoder {
    /// A frame with the compressed text; `None` when the text is to be sent plain. The cost of the
    /// text is taken off `budget`.
    pub fn frame(&mut self, text: &[u8], budget: &mut usize) -> Option<Rc<[u8]>> {
        let left = budget.checked_sub(text.len() + TEXT_COST)?;
        if text.len() <= LEAST_BYTES {
            return None;
        }
        *budget = left;
        let deflater = self
            .deflater
            .get_or_insert_with(|| Compress::new(Compression::new(LEVEL), false));
        deflater.reset();
        let mut output = Vec::with_capacity(text.len());
        let done = deflater.compress_vec(text, &mut output, FlushCompress::Sync);
        // An output that fills its room is not shorter than the text, and may be incomplete.
        let is_shorter = done.is_ok() && output.len() < text.len();
        let payload = output.strip_suffix(&END[..4]).filter(|_| is_shorter)?;
        Some(deflated_frame(payload).into())
    }

    /// The text of a compressed message. At most `limit` bytes are ever decompressed.
    pub fn inflate(&mut self, mut message: Vec<u8>, limit: usize) -> Result<String, CloseCode> {
        message.extend_from_slice(&END);
        let inflater = self.inflater.get_or_insert_with(|| Decompress::new(false));
        let (mut rest, mut text) = (&message[..], Vec::new());
        text.reserve_exact(limit.min(4 * message.len()) + 1);
        inflater.reset(false);
        let mut has_ended = false;
        loop {
            let before = (inflater.total_in(), inflater.total_out());
            let status = inflater.decompress_vec(rest, &mut text, FlushDecompress::None);
            let status = status.map_err(|_| CloseCode::INVALID_PAYLOAD)?;
            let read = usize::try_from(inflater.total_in() - before.0).unwrap_or(rest.len());
            rest = &rest[read..];
            if text.len() > limit {
                return Err(CloseCode::MESSAGE_TOO_BIG);
            }
            let has_room = text.len() < text.capacity();
            match status {
                Status::StreamEnd if rest.is_empty() => break,
                // A block of the message may be marked as the last of a stream (section 7.2.3.4),
                // and a second stream follows. More streams are an error: no message needs them,
                // and each resets the inflater.
                Status::StreamEnd if !has_ended => {
                    has_ended = true;
                    inflater.reset(false);
                }
                Status::StreamEnd => return Err(CloseCode::INVALID_PAYLOAD),
                // The end of the message is within a block.
                _ if has_room => return Err(CloseCode::INVALID_PAYLOAD),
                _ => text.reserve_exact(text.len().min(limit + 1 - text.len())),
            }
        }
        String::from_utf8(text).map_err(|_| CloseCode::INVALID_PAYLOAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 64 * 1024;

    fn frame(coder: &mut MessageCoder, text: &str) -> Option<Rc<[u8]>> {
        coder.frame(text.as_bytes(), &mut DEFLATE_LIMIT.clone())
    }

    fn inflate(message: &[u8]) -> Result<String, CloseCode> {
        MessageCoder::default().inflate(message.to_vec(), LIMIT)
    }

    /// Stored blocks, none of them the last.
    fn stored(text: &[u8]) -> Vec<u8> {
        let blocks = text.chunks(0xFFFF).map(|part| {
            let length = u16::try_from(part.len()).expect("two bytes");
            let header = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
            [&[0], &header[..], part].concat()
        });
        [blocks.collect::<Vec<_>>().concat(), vec![0]].concat()
    }

    #[test]
    fn a_message_is_the_same_whatever_was_compressed_before() {
        let mut coder = MessageCoder::default();
        let texts = ["a", "b"].map(|it| format!("{it}{}", "<p>line</p>".repeat(300)));
        let first = frame(&mut coder, &texts[0]).expect("shorter");
        assert_eq!((first[0], usize::from(first[1])), (0xC1, first.len() - 2));
        let found = coder.inflate(first[2..].to_vec(), LIMIT);
        assert_eq!(found, Ok(texts[0].clone()));
        frame(&mut coder, &texts[1]).expect("shorter");
        assert_eq!(frame(&mut coder, &texts[0]), Some(first));
    }

    #[test]
    fn what_does_not_become_shorter_or_has_no_room_is_sent_as_it_is() {
        let mut coder = MessageCoder::default();
        assert_eq!(frame(&mut coder, &"x".repeat(LEAST_BYTES)), None);
        assert!(frame(&mut coder, &"x".repeat(LEAST_BYTES + 1)).is_some());
        let mut state = 1_u64;
        let random = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            char::from(u8::try_from(state >> 57).expect("seven bits"))
        });
        let found = frame(&mut coder, &random.take(300).collect::<String>());
        assert_eq!(found, None);
    }

    #[test]
    fn only_so_much_is_compressed_at_once() {
        let (mut coder, mut budget) = (MessageCoder::default(), DEFLATE_LIMIT);
        let text = "x".repeat(4096);
        let mut compress = || coder.frame(text.as_bytes(), &mut budget);
        let frames = std::iter::from_fn(&mut compress).take(1000).count();
        assert_eq!(frames, DEFLATE_LIMIT / (4096 + TEXT_COST));
        assert!(compress().is_none());
    }

    #[test]
    fn a_message_may_consist_of_any_blocks() {
        // The examples of RFC 7692, section 7.2.3: one block, two blocks, a stored one, one that is
        // the last of its stream, an empty one at the end.
        for blocks in [
            &b"\xF2\x48\xCD\xC9\xC9\x07\x00"[..],
            b"\xF2\x48\x05\x00\x00\x00\xFF\xFF\xCA\xC9\xC9\x07\x00",
            b"\x00\x05\x00\xFA\xFF\x48\x65\x6C\x6C\x6F\x00",
            b"\xF3\x48\xCD\xC9\xC9\x07\x00\x00",
        ] {
            assert_eq!(inflate(blocks).as_deref(), Ok("Hello"), "{blocks:x?}");
        }
        assert_eq!(inflate(b"\x00").as_deref(), Ok(""));
        let whole = vec![b'x'; LIMIT];
        assert_eq!(inflate(&stored(&whole)).map(|text| text.len()), Ok(LIMIT));
    }

    #[test]
    fn no_more_is_decompressed_than_the_limit() {
        let bomb = |bytes: usize| {
            let mut deflater = Compress::new(Compression::best(), false);
            let mut bomb = Vec::with_capacity(bytes / 500 + 100);
            let zeros = vec![b'0'; bytes];
            deflater
                .compress_vec(&zeros, &mut bomb, FlushCompress::Sync)
                .expect("compressed");
            bomb.truncate(bomb.len() - 4);
            bomb
        };
        assert_eq!(inflate(&bomb(LIMIT)).map(|text| text.len()), Ok(LIMIT));
        assert_eq!(inflate(&bomb(LIMIT + 1)), Err(CloseCode::MESSAGE_TOO_BIG));
        let mut coder = MessageCoder::default();
        let large = bomb(1 << 26);
        assert_eq!(coder.inflate(large, LIMIT), Err(CloseCode::MESSAGE_TOO_BIG));
        let inflated = coder.inflater.map(|inflater| inflater.total_out());
        assert_eq!(inflated, Some(LIMIT as u64 + 1));
    }

    #[test]
    fn what_is_no_compressed_text_is_refused() {
        let valid = b"\xF2\x48\xCD\xC9\xC9\x07\x00";
        for end in 1..valid.len() {
            let found = inflate(&valid[..end]);
            assert_eq!(found, Err(CloseCode::INVALID_PAYLOAD), "{end}");
        }
        for message in [
            // Block type 3, which does not exist; a stored block whose length is wrong; something
            // behind the end; a reference too far back; no UTF-8; three streams.
            &b"\x07"[..],
            b"\x00\x05\x00\xFA\xFEHello\x00",
            b"\xF3\x48\xCD\xC9\xC9\x07\x00Hello",
            b"\xF3\x48\xCD\xC9\xC9\x07\x00",
            b"\x4B\x04\x22\x00",
            b"\x00\x01\x00\xFE\xFF\xFF\x00",
            b"\x03\x00\x03\x00\x00",
            b"",
        ] {
            let found = inflate(message);
            assert_eq!(found, Err(CloseCode::INVALID_PAYLOAD), "{message:x?}");
        }
    }
}
