//! A lane against an edge that this test plays, over a real socket.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use carat_lane::{
    BodyPieces, BodyStatus, CurrentRequest, HeadEncoder, LaneSession, LinkError, OutgoingBody,
    Progress, Readiness, Step, StreamEnd, TakenRequest,
};
use carat_link::{Fill, Flush, Inbox, Outbox};
use carat_wire::request::{self, RequestBody, RequestHead};
use carat_wire::stream::{
    SHORT_STREAM_WINDOW, STREAM_WINDOW, Window, encode_abort, encode_chunk, encode_end,
};
use carat_wire::{
    Collection, CollectionDue, FullReason, HasteReason, Kind, Response, ResponseBody, Scheme,
};

/// The edge's end of the socket.
struct Edge {
    socket: UnixStream,
    outbox: Outbox,
    inbox: Inbox,
}

/// The worker's end, with its session.
struct Worker {
    socket: UnixStream,
    session: LaneSession,
}

struct Inline(&'static [&'static [u8]]);

impl BodyPieces for Inline {
    fn bytes(&self) -> u32 {
        let bytes: usize = self.0.iter().map(|piece| piece.len()).sum();
        u32::try_from(bytes).expect("small")
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().copied()
    }
}

fn pair() -> (Worker, Edge) {
    let (socket, far) = UnixStream::pair().expect("a socket pair");
    let worker = Worker {
        socket,
        session: LaneSession::default(),
    };
    let edge = Edge {
        socket: far,
        outbox: Outbox::default(),
        inbox: Inbox::default(),
    };
    (worker, edge)
}

/// Both ends of a lane whose worker has begun request 1, and that request.
fn begun(body: RequestBody<'_>) -> (Worker, Edge, CurrentRequest) {
    let (mut worker, mut edge) = pair();
    edge.request(1, body);
    worker.next();
    let request = worker.take();
    (worker, edge, request)
}

impl Edge {
    fn send(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(self.outbox.buffer());
        let flushed = self.outbox.flush(&self.socket).expect("open");
        assert_eq!(flushed, Flush::Done);
    }

    fn request(&mut self, id: u32, body: RequestBody<'_>) {
        self.request_with(id, body, false);
    }

    fn request_with(&mut self, id: u32, body: RequestBody<'_>, has_short_window: bool) {
        let head = RequestHead {
            id,
            method: b"POST",
            path: b"/",
            query: b"",
            scheme: Scheme::Http,
            has_short_window,
            is_from_part: false,
            server_name: b"localhost",
            server_port: 80,
            remote_addr: b"127.0.0.1",
            version: 11,
        };
        self.send(|out| request::encode(out, &head, body, [].into_iter(), |_| 0));
    }

    /// The kinds and payloads that the worker has sent.
    fn received(&mut self) -> Vec<(Kind, Vec<u8>)> {
        while let Fill::Bytes { .. } = self.inbox.fill(&self.socket).expect("open") {}
        let mut received = Vec::new();
        while let Some(frame) = self.inbox.frames.next().expect("well formed") {
            received.push((frame.kind, frame.payload.to_vec()));
        }
        received
    }

    fn kinds(&mut self) -> Vec<Kind> {
        self.received().into_iter().map(|(kind, _)| kind).collect()
    }
}

impl Worker {
    fn next(&mut self) -> Step<bool> {
        let next = self.session.next(self.socket.as_fd(), Instant::now());
        next.expect("well formed")
    }

    /// Takes the request at the front, and begins it.
    fn take(&mut self) -> CurrentRequest {
        let taken = self.session.take(|request, _| {
            let is_streamed = matches!(request.body, RequestBody::Stream { .. });
            (request.head.id, is_streamed)
        });
        let TakenRequest::Request((id, is_streamed)) = taken.expect("a request") else {
            panic!("it has no descriptors");
        };
        self.session.begin(id, is_streamed);
        CurrentRequest {
            id,
            is_head: false,
            started: Instant::now(),
        }
    }

    fn respond(&mut self, request: CurrentRequest, body: OutgoingBody<Inline>) -> bool {
        let mut head = HeadEncoder::new(false);
        head.start(200).expect("a final status");
        self.session
            .respond(request, &mut head, body, Instant::now())
    }

    fn send_piece(&mut self, id: u32, data: &[u8]) -> Step<Progress> {
        let sent = self.session.send_piece(self.socket.as_fd(), id, data);
        sent.expect("well formed")
    }

    fn await_body(&mut self, id: u32) -> Step<Option<BodyStatus>> {
        let status = self.session.await_body(self.socket.as_fd(), id);
        status.expect("well formed")
    }

    fn flush(&mut self) {
        self.session.flush(self.socket.as_fd()).expect("open");
    }
}

#[test]
fn requests_are_taken_in_order_and_answered_together() {
    let (mut worker, mut edge) = pair();
    edge.request(1, RequestBody::None);
    edge.request(2, RequestBody::Inline(b"body"));
    for id in [1, 2] {
        assert_eq!(worker.next(), Step::Done(true));
        let request = worker.take();
        assert_eq!(request.id, id);
        assert!(!worker.respond(request, OutgoingBody::Inline(Inline(&[b"he", b"llo"]))));
    }
    assert!(edge.kinds().is_empty());
    assert_eq!(worker.next(), Step::Wait(Readiness::Readable));
    let received = edge.received();
    assert_eq!(received.len(), 2);
    let response = Response::decode(&received[1].1).expect("well formed");
    assert_eq!((response.id, response.status), (2, 200));
    assert_eq!(response.body, ResponseBody::Inline(b"hello"));
}

#[test]
fn a_head_request_has_a_response_without_its_body() {
    let (mut worker, mut edge, mut request) = begun(RequestBody::None);
    request.is_head = true;
    assert!(!worker.respond(request, OutgoingBody::Stream));
    worker.flush();
    let received = edge.received();
    let response = Response::decode(&received[0].1).expect("well formed");
    assert_eq!(response.body, ResponseBody::None);
}

#[test]
fn a_file_travels_beside_its_response() {
    let (mut worker, mut edge, request) = begun(RequestBody::None);
    let body = OutgoingBody::File {
        file: File::open("/dev/null")
            .expect("there on every machine")
            .into(),
        offset: 3,
        length: 4,
        allows_ranges: true,
    };
    worker.respond(request, body);
    worker.flush();
    assert_eq!(edge.kinds(), [Kind::Response]);
    assert_eq!(edge.inbox.descriptors.len(), 1);
}

#[test]
fn a_body_is_granted_when_it_is_read_and_not_before() {
    let (mut worker, mut edge, _) = begun(RequestBody::Stream { length: None });
    assert!(edge.kinds().is_empty());

    assert_eq!(worker.await_body(1), Step::Wait(Readiness::Readable));
    let received = edge.received();
    let window = Window::decode(&received[0].1).expect("a window");
    assert_eq!((window.id, window.bytes), (1, STREAM_WINDOW));

    edge.send(|out| {
        encode_chunk(out, 1, b"piece");
        encode_end(out, 1);
    });
    assert_eq!(worker.await_body(1), Step::Done(Some(BodyStatus::Bytes)));
    let body = worker.session.body(1).expect("in flight");
    assert_eq!(body.peek(), b"piece");
    body.consume(5);
    assert_eq!(worker.await_body(1), Step::Done(Some(BodyStatus::Complete)));
    assert_eq!(worker.session.take_updates(), (vec![1, 1], false));
}

#[test]
fn a_request_that_arrives_while_a_body_is_read_is_held_for_later() {
    let (mut worker, mut edge, _) = begun(RequestBody::Stream { length: Some(9) });
    edge.request(2, RequestBody::Inline(b"later"));
    assert_eq!(worker.await_body(1), Step::Wait(Readiness::Readable));
    assert!(worker.session.has_held());
    assert_eq!(worker.next(), Step::Done(true));
    assert_eq!(worker.take().id, 2);
}

/// The number of bytes that a worker sends of a stream until it has to wait. The stream is larger than its window.
fn send_most(worker: &mut Worker, edge: &mut Edge, id: u32) -> usize {
    let data = vec![b'x'; STREAM_WINDOW as usize + 1];
    let mut sent = 0;
    while let Step::Done(Progress::Sent(count)) = worker.send_piece(id, &data[sent..]) {
        sent += count;
        edge.received();
    }
    sent
}

#[test]
fn a_stream_waits_when_its_window_is_used_up() {
    let (mut worker, mut edge, request) = begun(RequestBody::None);
    assert!(worker.respond(request, OutgoingBody::Stream));
    let sent = send_most(&mut worker, &mut edge, 1);
    assert_eq!(sent, STREAM_WINDOW as usize);
    edge.send(|out| Window { id: 1, bytes: 10 }.encode(out));
    let found = worker.send_piece(1, b"x");
    assert_eq!(found, Step::Done(Progress::Sent(1)));
    worker.session.end_stream(1, StreamEnd::Complete);
    worker.flush();
    assert_eq!(edge.kinds(), [Kind::Chunk, Kind::End]);
}

#[test]
fn a_stream_whose_edge_is_short_of_memory_begins_with_a_short_window() {
    let (mut worker, mut edge) = pair();
    for (id, window) in [(1, SHORT_STREAM_WINDOW), (2, STREAM_WINDOW)] {
        edge.request_with(id, RequestBody::None, window == SHORT_STREAM_WINDOW);
        worker.next();
        let request = worker.take();
        assert!(worker.respond(request, OutgoingBody::Stream));
        let sent = send_most(&mut worker, &mut edge, id);
        assert_eq!(sent, window as usize);
        worker.session.end_stream(id, StreamEnd::Complete);
        worker.flush();
        edge.received();
    }
}

#[test]
fn a_stream_that_the_client_has_left_is_gone() {
    let (mut worker, mut edge, request) = begun(RequestBody::None);
    worker.respond(request, OutgoingBody::Stream);
    edge.send(|out| encode_abort(out, 1));
    assert_eq!(worker.send_piece(1, b"x"), Step::Done(Progress::Gone));
}

#[test]
fn only_the_one_who_reads_reads() {
    let (mut worker, mut edge) = pair();
    edge.request(1, RequestBody::None);
    worker.session.is_read = true;
    assert_eq!(worker.next(), Step::Wait(Readiness::Readable));
    worker.session.is_read = false;
    assert_eq!(worker.next(), Step::Done(true));
}

#[test]
fn a_lane_that_drains_serves_what_has_arrived_and_no_more() {
    let (mut worker, mut edge) = pair();
    edge.request(1, RequestBody::None);
    edge.send(|out| carat_wire::control::encode_signal(out, Kind::Drain));
    assert_eq!(worker.next(), Step::Done(true));
    let request = worker.take();
    assert_eq!(worker.next(), Step::Done(false));
    assert!(worker.session.is_over() && !worker.session.is_drained());
    worker.respond(request, OutgoingBody::Empty);
    assert!(worker.session.is_drained());
}

#[test]
fn when_the_edge_is_gone_nothing_follows_and_bodies_are_broken() {
    let (mut worker, edge, _) = begun(RequestBody::Stream { length: None });
    drop(edge);
    assert_eq!(worker.await_body(1), Step::Done(Some(BodyStatus::Broken)));
    assert_eq!(worker.next(), Step::Done(false));
    worker.flush();
}

#[test]
fn fibers_that_were_woken_run_before_the_next_request() {
    let (mut worker, mut edge) = pair();
    worker.session.push_hello(256, true);
    worker.session.resumed(Instant::now());
    edge.request(1, RequestBody::None);
    worker.session.yield_before_next();
    assert_eq!(worker.next(), Step::Yield);
    worker.session.resumed(Instant::now());
    assert_eq!(worker.next(), Step::Done(true));
    assert_eq!(edge.kinds(), [Kind::Hello]);
}

#[test]
fn a_request_that_was_recalled_is_given_back() {
    let (mut worker, mut edge) = pair();
    worker.session.skip(3);
    worker.flush();
    assert_eq!(edge.kinds(), [Kind::Abort]);
}

#[test]
fn a_request_that_waited_for_the_collector_says_so_before_its_response() {
    let (mut worker, mut edge, request) = begun(RequestBody::None);
    let due = CollectionDue {
        reason: FullReason::Oldgen as u8,
        load: 40,
    };
    worker.session.report_collection_due(due);
    let collection = Collection {
        request: 1,
        micros: 80_000,
        full: 1,
        reason: FullReason::Oldgen as u8,
        haste: HasteReason::Bound as u8,
    };
    worker.session.report_collection(collection);
    worker.respond(request, OutgoingBody::Inline(Inline(&[b"body"])));
    worker.flush();
    let received = edge.received();
    let kinds: Vec<_> = received.iter().map(|(kind, _)| *kind).collect();
    let reported = Collection::decode(&received[1].1);
    assert_eq!(
        kinds,
        [Kind::CollectionDue, Kind::Collection, Kind::Response]
    );
    assert_eq!(reported, Ok(collection));
    assert_eq!(CollectionDue::decode(&received[0].1), Ok(due));
}

#[test]
fn a_body_beyond_its_grant_ends_the_lane() {
    let (mut worker, mut edge, _) = begun(RequestBody::Stream { length: None });
    edge.send(|out| encode_chunk(out, 1, b"ungranted"));
    let next = worker.session.next(worker.socket.as_fd(), Instant::now());
    assert!(matches!(next, Err(LinkError::TooFarAhead)));
}
