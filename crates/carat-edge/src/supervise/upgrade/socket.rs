use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncRead, Interest, ReadBuf};
use tokio::net::UnixStream as TokioUnixStream;

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

/// Reads what the other edge says, and keeps the last descriptor that came beside it.
pub(super) struct DescriptorReader {
    socket: TokioUnixStream,
    beside: Rc<Cell<Option<OwnedFd>>>,
}

impl DescriptorReader {
    pub(super) fn new(
        socket: TokioUnixStream,
        beside: &Rc<Cell<Option<OwnedFd>>>,
    ) -> DescriptorReader {
        let beside = Rc::clone(beside);
        DescriptorReader { socket, beside }
    }

    fn read(&self, into: &mut ReadBuf<'_>) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &self.socket,
            &mut [IoSliceMut::new(into.initialize_unfilled())],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
        )?;
        into.advance(received.bytes);
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut passed) = message {
                self.beside.set(passed.next());
            }
        }
        Ok(())
    }
}

impl AsyncRead for DescriptorReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket.poll_read_ready(cx))?;
            match self.socket.try_io(Interest::READABLE, || self.read(into)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
        }
    }
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
