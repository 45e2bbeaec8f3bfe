use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The kernel passes no more descriptors with one message.
pub(super) const DESCRIPTORS_LIMIT: usize = 253;

/// The longest first message: that many addresses.
const FIRST_LIMIT: usize = 1 << 20;

const READ: usize = 16 * 1024;

/// Sends a line with descriptors beside it.
pub(super) fn send(socket: &UnixStream, line: &[u8], descriptors: &[OwnedFd]) -> io::Result<()> {
    if descriptors.len() > DESCRIPTORS_LIMIT {
        let words = format!("there are more than {DESCRIPTORS_LIMIT} listeners");
        return Err(io::Error::other(words));
    }
    let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_LIMIT))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
    }
    let sent = sendmsg(
        socket,
        &[IoSlice::new(line)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    io::Write::write_all(&mut &*socket, &line[sent..])
}

/// Receives the first line of the old edge, and the descriptors beside it.
pub(super) fn receive(socket: &UnixStream) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut line = Vec::new();
    let mut descriptors = Vec::new();
    let mut bytes = vec![0; READ];
    while line.last() != Some(&b'\n') {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_LIMIT))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        if received.bytes == 0 || line.len() > FIRST_LIMIT {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.extend_from_slice(&bytes[..received.bytes]);
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(passed) = message {
                descriptors.extend(passed);
            }
        }
    }
    Ok((line, descriptors))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_line_arrives_with_its_descriptors() {
        let (near, far) = UnixStream::pair().expect("a pair");
        let open = || OwnedFd::from(File::open("/dev/null").expect("everywhere"));
        let files: Vec<OwnedFd> = std::iter::repeat_with(open).take(3).collect();
        let long = [b"x".repeat(3 * READ), b"\n".to_vec()].concat();
        send(&near, &long, &files).expect("sent");
        let (line, descriptors) = receive(&far).expect("received");
        assert_eq!((line.len(), descriptors.len()), (long.len(), 3));
        send(&near, b"\n", &[]).expect("sent");
        assert_eq!(receive(&far).expect("received").1.len(), 0);
        drop(near);
        assert!(receive(&far).is_err());
    }
}
