use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use carat_wire::{FRAME_LIMIT, Frame, HEADER_BYTES, Malformed};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};

use crate::{ArrivedDescriptors, DESCRIPTORS_LIMIT};

/// The most bytes of one read, and the size of an inbox without a large frame: the largest piece of a stream and the
/// few bytes of its frame arrive in one read.
pub const READ_LIMIT: usize = carat_wire::stream::PIECE_LIMIT + 1024;

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Bytes arrived.
    Bytes {
        /// The number of bytes.
        count: usize,
        /// Whether the read emptied the socket, so that the next one waits for its readiness.
        emptied: bool,
    },
    /// Nothing has arrived.
    Blocked,
    /// The other side closed the socket.
    Closed,
}

/// Frames and descriptors that have arrived.
#[derive(Debug, Default)]
pub struct Inbox {
    /// The frames.
    pub frames: Frames,
    /// The descriptors of those frames.
    pub descriptors: ArrivedDescriptors,
    space: DescriptorSpace,
}

/// Bytes that arrived and were not taken: at most one incomplete frame and one read.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// The space to which the kernel writes the descriptors of one message. It is on the heap: on the small stack of a
/// reader, its 1 KB would often touch a further page.
#[derive(Debug)]
struct DescriptorSpace(Box<[MaybeUninit<u8>]>);

impl Default for DescriptorSpace {
    fn default() -> DescriptorSpace {
        let bytes = rustix::cmsg_space!(ScmRights(DESCRIPTORS_LIMIT));
        DescriptorSpace(vec![MaybeUninit::uninit(); bytes].into())
    }
}

impl Inbox {
    /// Reads once. Call it when [`Frames::next`] returned `None`.
    pub fn fill(&mut self, socket: impl AsFd) -> io::Result<Fill> {
        // At the limit of open files, unclaimed descriptors take the places of those that arrive.
        drop(self.descriptors.take_unclaimed());
        let room = self.frames.room();
        let wanted = room.len();
        let mut ancillary = RecvAncillaryBuffer::new(&mut self.space.0);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let message = match recvmsg(socket, &mut [IoSliceMut::new(room)], &mut ancillary, flags) {
            Ok(message) => message,
            Err(rustix::io::Errno::AGAIN) => return Ok(Fill::Blocked),
            Err(rustix::io::Errno::CONNRESET) => return Ok(Fill::Closed),
            Err(error) => return Err(error.into()),
        };
        let received = message.bytes;
        // The process is at its limit of open files, so the kernel closed some.
        let is_cut = message.flags.contains(ReturnFlags::CTRUNC);
        let arrived = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        });
        // The kernel ends a read after bytes that came with descriptors: more may follow.
        let has_descriptors = self.descriptors.add(arrived.flatten(), is_cut);
        let emptied = received < wanted && !has_descriptors;
        if received == 0 {
            return Ok(Fill::Closed);
        }
        self.frames.end += received;
        Ok(Fill::Bytes {
            count: received,
            emptied,
        })
    }
}

impl Frames {
    /// Takes the next frame; `None` until it is complete.
    #[expect(
        clippy::should_implement_trait,
        reason = "the frame borrows from the buffer"
    )]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, Malformed> {
        let Some(frame) = Frame::first(&self.bytes[self.start..self.end])? else {
            return Ok(None);
        };
        self.start += frame.size();
        Ok(Some(frame))
    }

    /// The next frame, which stays in the inbox; `None` until it is complete.
    pub fn peek(&self) -> Result<Option<Frame<'_>>, Malformed> {
        Frame::first(&self.bytes[self.start..self.end])
    }

    /// Room for the next read, and for the rest of a large frame.
    fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.bytes.len() > READ_LIMIT {
                self.bytes = Vec::new();
            }
        } else if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let wanted = READ_LIMIT.max(self.incomplete_frame());
        if self.bytes.is_empty() {
            // Zeroed pages take no memory until they are written.
            self.bytes = vec![0; wanted];
        } else if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// The size of the first frame in bytes, once its first bytes have arrived; 0 before.
    pub fn announced(&self) -> usize {
        self.incomplete_frame()
    }

    /// The size of the first frame, limited to that of the largest frame; 0 until it is known.
    fn incomplete_frame(&self) -> usize {
        let held = &self.bytes[self.start..self.end];
        held.first_chunk::<HEADER_BYTES>().map_or(0, |length| {
            HEADER_BYTES + (u32::from_le_bytes(*length) as usize).min(FRAME_LIMIT)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::{Flush, Outbox};

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().expect("a socket pair")
    }

    #[test]
    fn frames_and_more_descriptors_than_one_message_takes_arrive_in_order() {
        let (near, far) = pair();
        let mut outbox = Outbox::default();
        let mut readers = Vec::new();
        for id in 0..600 {
            let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
            readers.push(std::fs::File::from(reader));
            rustix::io::write(&writer, &[u8::try_from(id % 251).expect("small")]).expect("written");
            let passed = readers
                .last()
                .expect("just pushed")
                .try_clone()
                .expect("a duplicate");
            outbox.attach(passed.into());
            carat_wire::stream::encode_end(outbox.buffer(), id);
        }
        readers.clear();
        assert_eq!(outbox.flush(&near).expect("sent"), Flush::Done);

        let (mut inbox, mut taken, mut ids) = (Inbox::default(), Vec::new(), Vec::new());
        while let Ok(Fill::Bytes { .. }) = inbox.fill(&far) {
            while let Some(frame) = inbox.frames.next().expect("well formed") {
                ids.push(u32::from_le_bytes(
                    *frame.payload.first_chunk().expect("an id"),
                ));
                let own = inbox.descriptors.take(1, frame.has_first_descriptor);
                taken.extend(own.expect("arrived"));
            }
        }
        assert_eq!(ids, (0..600).collect::<Vec<_>>());
        for (id, descriptor) in taken.into_iter().enumerate() {
            let mut byte = [0];
            std::fs::File::from(descriptor)
                .read_exact(&mut byte)
                .expect("the pipe's byte");
            assert_eq!(usize::from(byte[0]), id % 251);
        }
    }

    #[test]
    fn a_frame_larger_than_a_read_arrives_whole_and_its_room_is_given_back() {
        let (near, far) = pair();
        let data: Vec<u8> = (0..READ_LIMIT * 5)
            .map(|index| u8::try_from(index % 253).expect("small"))
            .collect();
        let mut outbox = Outbox::default();
        carat_wire::stream::encode_chunk(outbox.buffer(), 1, &data);
        let mut inbox = Inbox::default();
        let mut received = None;
        while received.is_none() {
            outbox.flush(&near).expect("sent");
            inbox.fill(&far).expect("read");
            if let Some(frame) = inbox.frames.next().expect("well formed") {
                received = Some(frame.payload[4..].to_vec());
            }
        }
        assert_eq!(received.as_deref(), Some(&data[..]));
        inbox.fill(&far).expect("nothing there");
        assert!(inbox.frames.bytes.len() <= READ_LIMIT);
    }

    #[test]
    fn one_frame_may_have_more_descriptors_than_one_message_takes() {
        const COUNTS: [usize; 5] = [1, 2 * DESCRIPTORS_LIMIT + 7, 1, DESCRIPTORS_LIMIT, 300];
        let (near, far) = pair();
        let mut outbox = Outbox::default();
        for count in COUNTS {
            carat_wire::stream::encode_end(outbox.buffer(), 1);
            for _ in 0..count {
                outbox.attach(near.try_clone().expect("a duplicate").into());
            }
            carat_wire::stream::encode_end(outbox.buffer(), 2);
        }
        assert_eq!(outbox.flush(&near).expect("sent"), Flush::Done);

        let (mut inbox, mut frames) = (Inbox::default(), 0);
        while let Ok(Fill::Bytes { .. }) = inbox.fill(&far) {
            while let Some(frame) = inbox.frames.next().expect("well formed") {
                if frames % 2 == 1 {
                    let (count, is_first) = (COUNTS[frames / 2], frame.has_first_descriptor);
                    let taken = inbox.descriptors.take(count, is_first);
                    assert_eq!(taken.expect("arrived").count(), count);
                }
                frames += 1;
            }
        }
        assert_eq!((frames, inbox.descriptors.len()), (2 * COUNTS.len(), 0));
    }

    #[test]
    fn the_largest_piece_of_a_stream_arrives_by_one_read() {
        let (near, far) = pair();
        let mut outbox = Outbox::default();
        carat_wire::stream::encode_chunk(
            outbox.buffer(),
            1,
            &vec![7; carat_wire::stream::PIECE_LIMIT],
        );
        assert_eq!(outbox.flush(&near).expect("sent"), Flush::Done);
        let mut inbox = Inbox::default();
        inbox.fill(&far).expect("read");
        assert!(inbox.frames.next().expect("well formed").is_some());
    }

    proptest! {
        // Each case may make room for a frame of 8 MB.
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn no_bytes_make_an_inbox_grow_beyond_one_frame(
            bytes in vec(prop_oneof![Just(0), Just(0x7f), any::<u8>()], 0..400),
        ) {
            let (mut near, far) = pair();
            near.write_all(&bytes).expect("sent");
            let mut inbox = Inbox::default();
            while let Fill::Bytes { .. } = inbox.fill(&far).expect("read") {
                // A reader ends the connection on the first error; even for one that does not, the memory is bounded.
                while let Ok(Some(_)) = inbox.frames.next() {}
                prop_assert!(inbox.frames.bytes.len() <= HEADER_BYTES + FRAME_LIMIT);
            }
        }
    }

    #[test]
    fn a_closed_socket_and_an_idle_one_are_told_apart() {
        let (near, far) = pair();
        let mut inbox = Inbox::default();
        assert_eq!(inbox.fill(&far).expect("idle"), Fill::Blocked);
        drop(near);
        assert_eq!(inbox.fill(&far).expect("closed"), Fill::Closed);
    }
}
