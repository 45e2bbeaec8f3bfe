use std::collections::VecDeque;
use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use carat_wire::mark_first_descriptor;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::DESCRIPTORS_LIMIT;

/// An empty buffer with more capacity than this many bytes is freed.
const KEEP_LIMIT: usize = 256 * 1024;

/// The result of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// Everything was sent.
    Done,
    /// The socket is full.
    Blocked,
}

/// Frames to be sent, with their descriptors.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
    /// Descriptors, each with the offset of its frame in `bytes`.
    descriptors: VecDeque<(usize, Attachment)>,
    /// How many of the descriptors belong to the frame whose first ones were sent.
    rest_of_frame: usize,
}

/// An open file that the sender keeps.
pub trait KeptDescriptor: AsFd + Debug + Send + Sync + 'static {}

impl<T: AsFd + Debug + Send + Sync + 'static> KeptDescriptor for T {}

/// A descriptor until it is sent.
#[derive(Debug)]
enum Attachment {
    Owned(OwnedFd),
    Shared(Arc<dyn KeptDescriptor>),
}

impl AsFd for Attachment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Attachment::Owned(descriptor) => descriptor.as_fd(),
            Attachment::Shared(file) => file.as_fd(),
        }
    }
}

impl Outbox {
    /// The buffer to append frames to.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Attaches a descriptor to the frame that is appended next.
    pub fn attach(&mut self, descriptor: OwnedFd) {
        self.push(Attachment::Owned(descriptor));
    }

    /// Attaches a file that the sender keeps to the frame that is appended next.
    pub fn attach_shared(&mut self, file: Arc<impl KeptDescriptor>) {
        self.push(Attachment::Shared(file));
    }

    fn push(&mut self, attachment: Attachment) {
        self.descriptors.push_back((self.bytes.len(), attachment));
    }

    /// Bytes to be sent.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends until everything is sent or the socket is full.
    pub fn flush(&mut self, socket: impl AsFd) -> io::Result<Flush> {
        while !self.is_empty() {
            match self.send(socket.as_fd()) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.compact();
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

    /// Frees the room of the bytes that were sent: a slow socket may never accept everything.
    fn compact(&mut self) {
        if self.sent < KEEP_LIMIT || self.sent < self.len() {
            return;
        }
        self.bytes.drain(..self.sent);
        for (offset, _) in &mut self.descriptors {
            *offset = offset.saturating_sub(self.sent);
        }
        self.sent = 0;
    }

    /// Sends once. Descriptors go with the first byte, never later than their frame.
    fn send(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let count = self.next_descriptors();
        let following = self.descriptors.get(count);
        let end = following.map_or(self.bytes.len(), |(offset, _)| (*offset).max(self.sent + 1));
        if let (0, Some((offset, _))) = (self.rest_of_frame, self.descriptors.front()) {
            mark_first_descriptor(&mut self.bytes[*offset..]);
        }
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
        self.note_sent(count);
        Ok(sent)
    }

    /// The number of descriptors to send with the next message: the descriptors of as many whole frames as fit. A
    /// frame with more descriptors than fit is sent in several messages: the last one carries the rest of the frame,
    /// the others at least one byte.
    fn next_descriptors(&self) -> usize {
        if self.rest_of_frame > 0 {
            return self.rest_of_frame.min(DESCRIPTORS_LIMIT);
        }
        match self.descriptors.get(DESCRIPTORS_LIMIT) {
            None => self.descriptors.len(),
            Some((cut, _)) => match self.descriptors_before(*cut) {
                0 => DESCRIPTORS_LIMIT,
                whole => whole,
            },
        }
    }

    fn note_sent(&mut self, count: usize) {
        let last = self.descriptors.drain(..count).next_back();
        if self.rest_of_frame > 0 {
            self.rest_of_frame -= count;
        } else if let Some((frame, _)) = last {
            self.rest_of_frame = self.descriptors_before(frame + 1);
        }
    }

    /// How many descriptors belong to frames before this offset.
    fn descriptors_before(&self, offset: usize) -> usize {
        self.descriptors
            .partition_point(|(frame, _)| *frame < offset)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::Inbox;

    /// A frame of this length in which each byte is the same.
    fn frame(outbox: &mut Outbox, length: usize, byte: u8) {
        let data = vec![byte; length];
        carat_wire::stream::encode_chunk(outbox.buffer(), 1, &data);
    }

    #[test]
    fn a_socket_that_never_takes_everything_does_not_let_the_buffer_grow() {
        let (near, mut far) = UnixStream::pair().expect("a pair");
        let mut outbox = Outbox::default();
        let mut waste = vec![0; 64 * 1024];
        for _ in 0..200 {
            while outbox.len() < 2 * KEEP_LIMIT {
                frame(&mut outbox, 10_000, b'x');
            }
            assert_eq!(outbox.flush(&near).expect("open"), Flush::Blocked);
            assert!(outbox.bytes.len() <= 5 * KEEP_LIMIT);
            far.read_exact(&mut waste).expect("open");
        }
    }

    #[test]
    fn descriptors_stay_with_their_frames_when_what_is_sent_is_given_up() {
        let (near, far) = UnixStream::pair().expect("a pair");
        far.set_nonblocking(true).expect("a socket");
        let (mut outbox, mut inbox) = (Outbox::default(), Inbox::default());
        let (mut frames, mut files) = (0, 0);
        for _ in 0..(3 * DESCRIPTORS_LIMIT) {
            let file = File::open("/dev/null").expect("there on every machine");
            outbox.attach(file.into());
            frame(&mut outbox, 20_000, b'x');
        }
        while frames < 3 * DESCRIPTORS_LIMIT {
            outbox.flush(&near).expect("open");
            inbox.fill(&far).expect("open");
            while let Some(frame) = inbox.frames.next().expect("well formed") {
                frames += 1;
                let taken = inbox.descriptors.take(1, frame.has_first_descriptor);
                files += taken.expect("arrived").count();
            }
        }
        assert_eq!(files, frames);
    }
}
