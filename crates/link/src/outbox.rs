use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::DESCRIPTORS_LIMIT;

/// A buffer that has grown beyond this many bytes is given back when it is empty.
const KEEP_LIMIT: usize = 256 * 1024;

/// How far a flush came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Everything has been sent.
    Done,
    /// The socket takes no more now.
    Blocked,
}

/// Frames on their way out, with the descriptors that belong to them.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    /// Descriptors, each with the place in `bytes` where its frame begins.
    descriptors: VecDeque<(usize, OwnedFd)>,
}

impl Outbox {
    /// The buffer to append frames to.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Attaches a descriptor to the frame that is appended next.
    pub fn attach(&mut self, descriptor: OwnedFd) {
        self.descriptors.push_back((self.bytes.len(), descriptor));
    }

    /// How many bytes wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends what waits until all is sent or the socket is full.
    pub fn flush(&mut self, socket: impl AsFd) -> io::Result<Flush> {
        while !self.is_empty() {
            match self.send(socket.as_fd()) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Flush::Blocked);
                }
                Err(error) => return Err(error),
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEEP_LIMIT);
        self.sent = 0;
        Ok(Flush::Done)
    }

    /// Sends once. Descriptors go with the first byte, never later than their frame; a frame that has more
    /// than one message takes goes with the last of them, and one byte with each before.
    fn send(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let count = self.descriptors.len().min(DESCRIPTORS_LIMIT);
        let end = self
            .descriptors
            .get(DESCRIPTORS_LIMIT)
            .map_or(self.bytes.len(), |(place, _)| (*place).max(self.sent + 1));
        let bytes = [IoSlice::new(&self.bytes[self.sent..end])];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = if count == 0 {
            sendmsg(socket, &bytes, &mut SendAncillaryBuffer::default(), flags)?
        } else {
            let borrowed: Vec<_> = self
                .descriptors
                .iter()
                .take(count)
                .map(|(_, fd)| fd.as_fd())
                .collect();
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_LIMIT))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            let fits = ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
            debug_assert!(fits, "the space is sized for DESCRIPTORS_LIMIT");
            sendmsg(socket, &bytes, &mut ancillary, flags)?
        };
        self.descriptors.drain(..count);
        Ok(sent)
    }
}
