use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use bytes::Buf;

use crate::response::reply::FileRange;

/// The most bytes of a file that are handed to hyper at once.
pub const OUTGOING_LIMIT: usize = 256 * 1024;

/// The bytes of a file that are sent before other connections get a turn.
const TURN_LIMIT: usize = 512 * 1024;

/// The bytes that hyper gets in place of the file's. They are never read, so their pages are never loaded into memory.
static PLACEHOLDER: [u8; OUTGOING_LIMIT] = [0; OUTGOING_LIMIT];

/// The part of a file that a connection is sending without a copy of it in memory.
///
/// hyper frames, counts, and orders the part like bytes in memory, because it has a placeholder of the same length. The
/// stream below hyper recognizes the placeholder by its address, and sends the file in its place.
#[derive(Debug, Default)]
pub struct OutgoingFile {
    /// Whether the connection can send files without a copy. Only a bare socket can.
    is_allowed: Cell<bool>,
    range: RefCell<Option<FileRange>>,
    /// Bytes sent since other connections had a turn.
    sent_in_turn: Cell<usize>,
}

/// A placeholder for this many bytes of a file.
pub struct FilePlaceholder(usize);

impl OutgoingFile {
    /// Allows sending files without a copy: the connection is a bare socket, so its bytes reach the client unchanged.
    pub fn allow(&self) {
        self.is_allowed.set(true);
    }

    /// Whether files may be sent without a copy.
    pub fn is_allowed(&self) -> bool {
        self.is_allowed.get()
    }

    /// Whether a part of a file is not sent yet.
    pub fn is_set(&self) -> bool {
        self.is_allowed.get() && self.range.borrow().is_some()
    }

    /// Sets the part of a file to send next, at most `OUTGOING_LIMIT` bytes, and returns the placeholder for hyper.
    /// There is one part at a time.
    pub fn set(&self, range: FileRange) -> FilePlaceholder {
        let length = usize::try_from(range.length).map_or(OUTGOING_LIMIT, |length| length);
        self.range.replace(Some(range));
        FilePlaceholder(length.min(OUTGOING_LIMIT))
    }

    /// Forgets a part that hyper did not send.
    pub fn clear(&self) {
        if self.is_set() {
            self.range.take();
        }
    }

    /// Whether other connections have their turn now. This one is woken for its next turn.
    pub fn gives_way(&self, cx: &Context<'_>) -> bool {
        let gives_way = self.sent_in_turn.get() >= TURN_LIMIT;
        if gives_way {
            self.sent_in_turn.set(0);
            cx.waker().wake_by_ref();
        }
        gives_way
    }

    /// Sends at most `limit` bytes of the part. An error when the file was truncated.
    pub fn poll_send(
        &self,
        limit: usize,
        write: impl FnOnce(&File, u64, usize) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let mut slot = self.range.borrow_mut();
        let Some(range) = slot.as_mut() else {
            return Poll::Ready(Err(io::ErrorKind::InvalidInput.into()));
        };
        let wanted = usize::try_from(range.length).map_or(limit, |length| length.min(limit));
        let sent = ready!(write(&range.file, range.offset, wanted))?;
        if sent == 0 {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        self.sent_in_turn.set(self.sent_in_turn.get() + sent);
        range.offset += sent as u64;
        range.length -= sent as u64;
        if range.length == 0 {
            *slot = None;
        }
        Poll::Ready(Ok(sent))
    }
}

impl FilePlaceholder {
    /// Whether this slice is a placeholder. Its address is the address of a static item, which is never freed, and
    /// shares no byte with another value. Only an empty slice may have the same address, at the end of the item before
    /// it.
    pub fn is(slice: &IoSlice<'_>) -> bool {
        !slice.is_empty() && std::ptr::eq(slice.as_ptr(), PLACEHOLDER.as_ptr())
    }
}

impl Buf for FilePlaceholder {
    fn remaining(&self) -> usize {
        self.0
    }

    fn chunk(&self) -> &[u8] {
        &PLACEHOLDER[..self.0]
    }

    fn advance(&mut self, count: usize) {
        self.0 -= count;
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn outgoing(length: u64) -> (OutgoingFile, FilePlaceholder) {
        let outgoing = OutgoingFile::default();
        outgoing.allow();
        let file = tempfile::tempfile().expect("a file");
        let placeholder = outgoing.set(FileRange::new(file, 7, length));
        (outgoing, placeholder)
    }

    #[test]
    fn the_file_is_sent_from_where_it_stands_for_as_long_as_its_placeholder() {
        let (outgoing, mut placeholder) = outgoing(100);
        for (limit, offset, sent) in [(100, 7, 60), (40, 67, 10), (30, 77, 30)] {
            assert!(outgoing.is_set());
            let poll = outgoing.poll_send(limit, |_, at, count| {
                assert_eq!((at, count), (offset, limit));
                Poll::Ready(Ok(sent))
            });
            assert!(matches!(poll, Poll::Ready(Ok(count)) if count == sent));
            placeholder.advance(sent);
        }
        assert!(!outgoing.is_set() && !placeholder.has_remaining());
    }

    #[test]
    fn only_the_placeholder_itself_stands_for_a_file() {
        let (_outgoing, placeholder) = outgoing(100);
        let (nothing, rest) = placeholder.chunk().split_at(0);
        assert!(FilePlaceholder::is(&IoSlice::new(rest)));
        let copied = rest.to_vec();
        for bytes in [nothing, &rest[1..], &copied, &[0; 100]] {
            assert!(!FilePlaceholder::is(&IoSlice::new(bytes)));
        }
    }

    #[test]
    fn a_file_that_has_become_shorter_is_an_error_and_a_blocked_client_keeps_its_part() {
        let (outgoing, _placeholder) = outgoing(100);
        assert!(outgoing.poll_send(9, |_, _, _| Poll::Pending).is_pending());
        let sent = outgoing.poll_send(9, |_, _, _| Poll::Ready(Ok(0)));
        assert!(
            matches!(sent, Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof)
        );
        outgoing.clear();
        assert!(!outgoing.is_set());
    }

    #[test]
    fn others_have_their_turn_after_so_many_bytes() {
        let (outgoing, _placeholder) = outgoing(OUTGOING_LIMIT as u64 * 9);
        let cx = Context::from_waker(Waker::noop());
        let mut sent = 0;
        while !outgoing.gives_way(&cx) {
            let poll = outgoing.poll_send(OUTGOING_LIMIT, |_, _, count| Poll::Ready(Ok(count)));
            assert!(matches!(poll, Poll::Ready(Ok(OUTGOING_LIMIT))));
            sent += OUTGOING_LIMIT;
        }
        assert_eq!(sent, TURN_LIMIT);
        assert!(!outgoing.gives_way(&cx));
    }
}
