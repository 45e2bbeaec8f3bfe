//! A request body that a lane receives while the application reads it.

use std::collections::VecDeque;

use carat_wire::stream::STREAM_WINDOW;

use crate::link_error::LinkError;

/// The bytes of a body that have arrived and have not been read: at most [`STREAM_WINDOW`], because the edge sends no more
/// than it has been granted.
#[derive(Debug, Default)]
pub struct BodyReceiver {
    bytes: VecDeque<u8>,
    /// The bytes that the edge was granted and that the application has not read.
    granted: u32,
    end: Option<BodyEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyEnd {
    Complete,
    Broken,
}

/// The part of a body that the application can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyStatus {
    /// Nothing has arrived yet.
    Pending,
    /// At least one byte can be read.
    Bytes,
    /// Everything was read, and the body is complete.
    Complete,
    /// Everything that arrived was read, but the body is incomplete.
    Broken,
}

impl BodyReceiver {
    /// How many more bytes the edge may send, now that the application reads. `None` while half of the last grant is
    /// still unread.
    pub(crate) fn grant(&mut self) -> Option<u32> {
        let due = STREAM_WINDOW - self.granted;
        if self.end.is_some() || due < STREAM_WINDOW / 2 {
            return None;
        }
        self.granted = STREAM_WINDOW;
        Some(due)
    }

    /// Appends a chunk. Refuses a chunk that exceeds the grant.
    pub(crate) fn push(&mut self, data: &[u8]) -> Result<(), LinkError> {
        if self.bytes.len() + data.len() > self.granted as usize {
            return Err(LinkError::TooFarAhead);
        }
        self.bytes.extend(data);
        Ok(())
    }

    /// Notes that the body is complete.
    pub(crate) fn complete(&mut self) {
        self.end.get_or_insert(BodyEnd::Complete);
    }

    /// Notes that the rest of the body will not arrive.
    pub(crate) fn abort(&mut self) {
        self.end.get_or_insert(BodyEnd::Broken);
    }

    /// The part of a body that the application can read.
    pub(crate) fn status(&self) -> BodyStatus {
        match self.end {
            _ if !self.bytes.is_empty() => BodyStatus::Bytes,
            None => BodyStatus::Pending,
            Some(BodyEnd::Complete) => BodyStatus::Complete,
            Some(BodyEnd::Broken) => BodyStatus::Broken,
        }
    }

    /// The first unread bytes; [`consume`](BodyReceiver::consume) removes them.
    pub fn peek(&self) -> &[u8] {
        self.bytes.as_slices().0
    }

    /// Removes the first `count` bytes, which the application has read.
    ///
    /// # Panics
    ///
    /// If fewer have arrived.
    pub fn consume(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.granted -= u32::try_from(count).expect("no more has arrived than was granted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_may_send_again_when_half_of_its_grant_is_read() {
        let mut body = BodyReceiver::default();
        assert_eq!(body.grant(), Some(STREAM_WINDOW));
        assert_eq!(body.grant(), None);
        let half = STREAM_WINDOW as usize / 2;
        body.push(&vec![b'x'; half]).expect("granted");
        body.consume(half - 1);
        assert_eq!(body.grant(), None);
        body.consume(1);
        assert_eq!(body.grant(), Some(STREAM_WINDOW / 2));
    }

    #[test]
    fn more_than_was_granted_is_refused() {
        let mut body = BodyReceiver::default();
        assert!(matches!(body.push(b"x"), Err(LinkError::TooFarAhead)));
        body.grant();
        body.push(&vec![0; STREAM_WINDOW as usize])
            .expect("granted");
        assert!(matches!(body.push(b"x"), Err(LinkError::TooFarAhead)));
    }

    #[test]
    fn what_has_arrived_is_read_before_the_end() {
        let mut body = BodyReceiver::default();
        assert_eq!(body.status(), BodyStatus::Pending);
        body.grant();
        body.push(b"rest").expect("granted");
        body.complete();
        let found = (body.status(), body.peek());
        assert_eq!(found, (BodyStatus::Bytes, &b"rest"[..]));
        body.consume(4);
        assert_eq!((body.status(), body.grant()), (BodyStatus::Complete, None));
    }

    #[test]
    fn the_first_end_counts() {
        let mut body = BodyReceiver::default();
        body.abort();
        body.complete();
        assert_eq!(body.status(), BodyStatus::Broken);
    }
}
