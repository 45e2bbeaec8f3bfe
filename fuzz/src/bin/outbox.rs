//! Frames and descriptors arrive in the order in which they were sent, none of them lost, whatever
//! the order of appending, flushing and reading; no descriptor arrives behind its frame.
#![no_main]

use std::fs::File;
use std::os::unix::net::UnixStream;

use carat_fuzz::Input;
use carat_link::{Fill, Flush, Inbox, Outbox};
use carat_wire::stream::{Chunk, encode_chunk};
use libfuzzer_sys::fuzz_target;

/// Descriptors that wait in the socket at once: the process has a limit.
const OPEN_LIMIT: usize = 300;

struct Link {
    null: File,
    near: UnixStream,
    far: UnixStream,
    outbox: Outbox,
    inbox: Inbox,
    /// Of each frame: its length, and how many descriptors were attached to it.
    sent: Vec<(usize, usize)>,
    attached: usize,
    arrived: usize,
    frames: usize,
}

impl Link {
    fn new() -> Link {
        let (near, far) = UnixStream::pair().expect("a socket pair");
        Link {
            null: File::open("/dev/null").expect("there on every machine"),
            near,
            far,
            outbox: Outbox::default(),
            inbox: Inbox::default(),
            sent: Vec::new(),
            attached: 0,
            arrived: 0,
            frames: 0,
        }
    }

    fn append(&mut self, length: usize, descriptors: usize) {
        let own = descriptors.min(OPEN_LIMIT.saturating_sub(self.attached - self.arrived));
        for _ in 0..own {
            let descriptor = self.null.try_clone().expect("few are open");
            self.outbox.attach(descriptor.into());
            self.attached += 1;
        }
        let id = u32::try_from(self.sent.len()).expect("an input is short");
        let byte = id.to_le_bytes()[0];
        encode_chunk(self.outbox.buffer(), id, &vec![byte; length]);
        self.sent.push((length, own));
    }

    fn read(&mut self) -> bool {
        let fill = self.inbox.fill(&self.far).expect("an open socket");
        while let Some(frame) = self.inbox.frames.next().expect("well formed") {
            let chunk = Chunk::decode(frame.payload).expect("well formed");
            let (length, descriptors) = self.sent[self.frames];
            assert_eq!(chunk.id as usize, self.frames);
            assert_eq!(chunk.data.len(), length);
            let byte = chunk.id.to_le_bytes()[0];
            assert!(chunk.data.iter().all(|&found| found == byte));
            if descriptors > 0 {
                let is_first = frame.has_first_descriptor;
                let own = self.inbox.descriptors.take(descriptors, is_first);
                self.arrived += own.expect("a descriptor behind its frame").count();
            }
            self.frames += 1;
        }
        matches!(fill, Fill::Bytes { .. })
    }

    fn finish(mut self) {
        while self.outbox.flush(&self.near).expect("an open socket") == Flush::Blocked {
            assert!(self.read(), "a full socket has bytes");
        }
        while self.read() {}
        assert!(self.outbox.is_empty());
        assert_eq!(
            (self.frames, self.arrived),
            (self.sent.len(), self.attached)
        );
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let mut link = Link::new();
    for order in input.bytes.chunks_exact(2).take(200) {
        match order[0] % 8 {
            0 => drop(link.outbox.flush(&link.near).expect("an open socket")),
            1 => drop(link.read()),
            2 => link.append(usize::from(order[1]) * 256, 0),
            3 => link.append(usize::from(order[1]) * 256, 1),
            kind => link.append(usize::from(order[1]), usize::from(kind - 4) * 90),
        }
    }
    link.finish();
});
