//! The window of a response body that a lane streams.

use carat_wire::stream::{PIECE_LIMIT, SHORT_STREAM_WINDOW, STREAM_WINDOW};

/// How many bytes of a stream may still be sent, and whether the client still wants them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseStream {
    allowance: u64,
    pub(crate) is_aborted: bool,
}

impl ResponseStream {
    /// A stream of which nothing has been sent.
    pub(crate) fn new(has_short_window: bool) -> ResponseStream {
        let window = if has_short_window {
            SHORT_STREAM_WINDOW
        } else {
            STREAM_WINDOW
        };
        ResponseStream {
            allowance: window.into(),
            is_aborted: false,
        }
    }

    /// Notes that the edge accepts `bytes` more.
    pub(crate) fn grant(&mut self, bytes: u32) {
        self.allowance = self.allowance.saturating_add(bytes.into());
    }

    /// The part of `data` that may be sent now; empty while the window is closed.
    pub(crate) fn admit<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let allowance = usize::try_from(self.allowance).unwrap_or(usize::MAX);
        let piece = &data[..data.len().min(allowance).min(PIECE_LIMIT)];
        self.allowance -= piece.len() as u64;
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_sends_its_window_in_pieces_and_then_waits() {
        let mut stream = ResponseStream::new(false);
        let data = vec![0; STREAM_WINDOW as usize + 1];
        let mut sent = 0;
        while sent < STREAM_WINDOW as usize {
            let piece = stream.admit(&data[sent..]).len();
            assert_eq!(piece, PIECE_LIMIT);
            sent += piece;
        }
        assert!(stream.admit(&data[sent..]).is_empty());
        stream.grant(7);
        assert_eq!(stream.admit(&data).len(), 7);
    }

    #[test]
    fn a_grant_never_overflows() {
        let mut stream = ResponseStream {
            allowance: u64::MAX,
            is_aborted: false,
        };
        stream.grant(u32::MAX);
        assert_eq!(stream.admit(b"abc"), b"abc");
    }
}
