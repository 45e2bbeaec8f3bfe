//! A worker takes the same requests from its lane, and ends with the same error, however the frames of
//! the edge arrive.
#![no_main]

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use carat_fuzz::Input;
use carat_lane::{BodyStatus, LaneSession, LinkError, Step, TakenRequest};
use carat_wire::request::RequestBody;
use libfuzzer_sys::fuzz_target;

/// What a worker saw: the ids and methods of its requests, and why the lane ended.
type Seen = (Vec<(u32, Vec<u8>)>, Option<String>);

/// Takes the request at the front. A streamed body is left where it is.
fn take(session: &mut LaneSession, seen: &mut Seen) -> Result<(), LinkError> {
    let taken = session.take(|request, _| {
        let is_streamed = matches!(request.body, RequestBody::Stream { .. });
        (request.head.id, request.head.method.to_vec(), is_streamed)
    })?;
    match taken {
        TakenRequest::Request((id, method, is_streamed)) => {
            session.begin(id, is_streamed);
            seen.0.push((id, method));
        }
        TakenRequest::DescriptorsLost(id) => seen.0.push((id, Vec::new())),
    }
    Ok(())
}

/// Takes all requests that are there. What the edge sends after it has told the lane to drain may be
/// read or not.
fn work(session: &mut LaneSession, socket: &UnixStream, seen: &mut Seen) -> Result<(), LinkError> {
    while session.next(socket.as_fd(), Instant::now())? == Step::Done(true) && !session.is_over() {
        take(session, seen)?;
    }
    Ok(())
}

fn seen<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Seen {
    let (mut edge, socket) = UnixStream::pair().expect("a socket pair");
    let mut session = LaneSession::default();
    let mut seen = Seen::default();
    for piece in pieces {
        edge.write_all(piece).expect("a piece fits into a socket");
        let worked = work(&mut session, &socket, &mut seen);
        if session.is_over() {
            return seen;
        }
        if let Err(error) = worked {
            seen.1 = Some(error.to_string());
            return seen;
        }
    }
    drop(edge);
    work(&mut session, &socket, &mut seen).expect("all frames are handled");
    read_bodies(&mut session, &socket, &seen);
    seen
}

/// Reads what has arrived of each streamed body: after the edge has left, none is still to come.
fn read_bodies(session: &mut LaneSession, socket: &UnixStream, seen: &Seen) {
    for (id, _) in &seen.0 {
        if let Ok(Step::Done(Some(status))) = session.await_body(socket.as_fd(), *id) {
            assert_ne!(status, BodyStatus::Pending);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    assert_eq!(seen(input.pieces()), seen(input.bytes.chunks(4096)));
});
