//! A process at its limit of open files. The limit is the whole process's, so this file has one test.

use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;

use carat_link::{Fill, Flush, Inbox, MissingDescriptors, Outbox};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Appends a frame with this number of descriptors, each of which reads `byte`.
fn frame(outbox: &mut Outbox, byte: u8, descriptors: usize) {
    for _ in 0..descriptors {
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
        rustix::io::write(&writer, &[byte]).expect("written");
        outbox.attach(reader);
    }
    carat_wire::stream::encode_end(outbox.buffer(), byte.into());
}

/// The bytes that the descriptors of all frames read; `None` for a frame that lost them.
fn receive(inbox: &mut Inbox, socket: &UnixStream, counts: &[usize]) -> Vec<Option<Vec<u8>>> {
    let mut received = Vec::new();
    while let Ok(Fill::Bytes { .. }) = inbox.fill(socket) {
        while let Some(frame) = inbox.frames.next().expect("well formed") {
            let count = counts[received.len()];
            let taken = inbox.descriptors.take(count, frame.has_first_descriptor);
            let read = |descriptor| {
                let mut byte = [0];
                let read = File::from(descriptor).read_exact(&mut byte);
                read.map(|()| byte[0]).expect("a byte")
            };
            received.push(match taken {
                Ok(taken) => Some(taken.map(read).collect()),
                Err(MissingDescriptors::Lost) => None,
                Err(MissingDescriptors::NotSent) => panic!("they were sent"),
            });
        }
    }
    received
}

/// Allows as many descriptors as are open, and this many more.
fn allow(more: u64) -> Rlimit {
    let before = getrlimit(Resource::Nofile);
    let lowest_free = File::open("/dev/null").expect("there on every machine");
    let open = u64::try_from(std::os::fd::AsRawFd::as_raw_fd(&lowest_free)).expect("a number");
    drop(lowest_free);
    let lowered = Rlimit {
        current: Some(open + more),
        ..before
    };
    setrlimit(Resource::Nofile, lowered).expect("lowered");
    before
}

#[test]
fn a_process_without_descriptors_loses_single_frames_and_mixes_up_none() {
    const COUNTS: [usize; 6] = [1, 2, 3, 1, 2, 1];
    let (near, far) = UnixStream::pair().expect("a socket pair");
    let (mut outbox, mut inbox) = (Outbox::default(), Inbox::default());
    let mut send = |frames: &[(u8, usize)]| {
        for (byte, count) in frames {
            frame(&mut outbox, *byte, *count);
        }
        assert_eq!(outbox.flush(&near).expect("sent"), Flush::Done);
    };
    send(&[(1, 1), (2, 2), (3, 3)]);
    send(&[(4, 1)]);
    send(&[(5, 2), (6, 1)]);
    // Two descriptors are free for each message: those of one message are closed before the next arrives.
    let before = allow(2);
    let received = receive(&mut inbox, &far, &COUNTS);
    setrlimit(Resource::Nofile, before).expect("as before");
    let expected = [
        Some(vec![1]),
        None,
        None,
        Some(vec![4]),
        Some(vec![5, 5]),
        None,
    ];
    assert_eq!(received, expected);
    assert!(inbox.descriptors.is_empty());
}
