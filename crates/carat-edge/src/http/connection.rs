use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::guarded::Guarded;
use super::peer::Peer;
use super::refusal::Refusal;
use super::serve::serve;
use super::slow_reader::SlowReader;
use super::watch::{Phase, Watch};
use crate::board::Deadline;
use crate::listen::Stream;
use crate::server::Server;
use crate::settings::Settings;

/// A connection that has been idle for this long is taken out of hyper, whose buffers weigh 7 to
/// 11 KB a connection, and parked as a bare socket.
const PARK_AFTER: Duration = Duration::from_secs(1);

/// How long a body may be slow before its average rate counts.
const BODY_GRACE: Duration = Duration::from_secs(10);
/// How often the rate of a body is looked at after that.
const BODY_CHECK: Duration = Duration::from_secs(1);

/// How long a client that is still sending is listened to after its last answer, and how long it may
/// pause. Nothing of it is kept, so there is no limit in bytes: a client that sends a whole body
/// before it reads would be cut off there and could take the reset for its answer.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_PAUSE: Duration = Duration::from_secs(1);
const LINGER_READ: usize = 8 * 1024;

/// hyper takes no smaller buffer.
const HYPER_BUFFER_MIN: usize = 8 * 1024;
/// So many headers hyper parses without an allocation.
const HYPER_INLINE_HEADERS: usize = 100;

/// How an active phase of a connection has ended.
enum Ending {
    /// There was nothing to read: readiness has false positives, and a new connection begins with
    /// one (tokio assumes it).
    FalseAlarm,
    /// Nothing happens; the connection can be parked.
    Idle,
    /// It is over; this may remain to be said.
    Over(Option<Refusal>),
    /// The client does not take its answer.
    Stuck,
}

/// Serves one client until it or the server ends the connection.
pub(crate) async fn drive(mut stream: Stream, server: Rc<Server>) {
    let peer = Rc::new(Peer::of(&stream));
    let deadline = server.board.deadline();
    let mut patience = server.settings.header_timeout;
    if server.draining.is_set() {
        // It was accepted last: what it has sent has not been seen yet.
        yield_now().await;
    }
    let (refusal, linger) = loop {
        if !wait_readable(&stream, &deadline, patience, &server).await {
            return;
        }
        let active = Box::pin(converse(stream, &peer, &deadline, &server)).await;
        stream = active.stream;
        match active.ending {
            Ending::FalseAlarm => {}
            Ending::Idle => patience = server.settings.idle_timeout.saturating_sub(PARK_AFTER),
            Ending::Over(refusal) => break (refusal, active.linger),
            Ending::Stuck => return stream.reset(),
        }
    };
    close(stream, refusal, linger).await;
}

/// Waits parked until the client sends something; `false` when it or the server has had enough.
async fn wait_readable(
    stream: &Stream,
    deadline: &Deadline,
    patience: Duration,
    server: &Server,
) -> bool {
    deadline.set(patience);
    poll_fn(|cx| {
        if let Poll::Ready(readable) = stream.poll_readable(cx) {
            return Poll::Ready(readable.is_ok());
        }
        if deadline.passed(cx.waker()) || server.draining.is_set() {
            return Poll::Ready(false);
        }
        Poll::Pending
    })
    .await
}

/// A connection after a time in hyper.
struct Conversation {
    stream: Stream,
    ending: Ending,
    linger: bool,
}

/// Answers requests until the connection is idle or over.
async fn converse(
    stream: Stream,
    peer: &Rc<Peer>,
    deadline: &Deadline,
    server: &Rc<Server>,
) -> Conversation {
    let watch = Rc::new(Watch::new());
    let guarded = Guarded::new(stream, server, Rc::clone(&watch));
    let service = service_fn(|request| serve(request, peer, &watch, server));
    let mut connection = server
        .http1
        .serve_connection(TokioIo::new(guarded), service);
    let mut patience = Patience::new(deadline, &server.settings);
    let mut draining = false;

    let ending = poll_fn(|cx| {
        let mut is_over = Pin::new(&mut connection).poll(cx).is_ready();
        if server.draining.is_set() && !draining && !is_over {
            // Not before hyper has read what is there: it would close.
            draining = true;
            Pin::new(&mut connection).graceful_shutdown();
            is_over = Pin::new(&mut connection).poll(cx).is_ready();
        }
        if is_over {
            return Poll::Ready(Ending::Over(watch.refusal().filter(|_| watch.may_refuse())));
        }
        if !watch.has_heard() {
            return Poll::Ready(Ending::FalseAlarm);
        }
        if let Some(ending) = patience.follow(&watch) {
            return Poll::Ready(ending);
        }
        while deadline.passed(cx.waker()) {
            if let Some(ending) = patience.exhausted(&watch) {
                return Poll::Ready(ending);
            }
        }
        Poll::Pending
    })
    .await;
    let linger = watch.must_linger() || matches!(ending, Ending::Over(Some(_)));
    let stream = connection.into_parts().io.into_inner().into_stream();
    Conversation {
        stream,
        ending,
        linger,
    }
}

/// hyper's side of a connection, the same for all.
pub(crate) fn http1(settings: &Settings) -> http1::Builder {
    let mut builder = http1::Builder::new();
    // A head must fit, which the guard hands over whole, and a read.
    let buffer = settings.max_header_bytes.max(settings.body_buffer);
    builder
        .header_read_timeout(None)
        .max_buf_size(buffer.max(HYPER_BUFFER_MIN));
    if settings.max_headers > HYPER_INLINE_HEADERS {
        builder.max_headers(settings.max_headers);
    }
    builder
}

/// How long a connection may stay in its phase.
struct Patience<'a> {
    phase: Option<Phase>,
    /// `Watch::body_pauses` when the deadline was set.
    pauses: u32,
    since: Instant,
    /// Bytes of the body that had come by then.
    received: u64,
    reader: SlowReader,
    deadline: &'a Deadline,
    settings: &'a Settings,
}

impl<'a> Patience<'a> {
    fn new(deadline: &'a Deadline, settings: &'a Settings) -> Self {
        let now = Instant::now();
        let (timeout, min_rate) = (settings.write_timeout, settings.write_min_rate);
        Patience {
            phase: None,
            pauses: 0,
            since: now,
            received: 0,
            reader: SlowReader::new(timeout, min_rate, now),
            deadline,
            settings,
        }
    }

    /// Sets the deadline anew when the phase has changed; how the conversation ends, if it must.
    fn follow(&mut self, watch: &Watch) -> Option<Ending> {
        let phase = watch.phase();
        // A body that was not wanted for a while has all its time again.
        let resumed = phase == Phase::Body && self.pauses != watch.body_pauses();
        if self.phase == Some(phase) && !resumed {
            return None;
        }
        if self.phase == Some(Phase::Writing) {
            self.reader.end(Instant::now(), watch.written_bytes());
        }
        self.phase = Some(phase);
        match phase {
            Phase::Idle => self
                .deadline
                .set(PARK_AFTER.min(self.settings.idle_timeout)),
            Phase::Head => self.deadline.set(self.settings.header_timeout),
            Phase::Body => {
                self.since = Instant::now();
                self.received = watch.body_bytes();
                self.pauses = watch.body_pauses();
                self.deadline.set(BODY_GRACE);
            }
            Phase::Answering => self.deadline.clear(),
            Phase::Writing => {
                let verdict = self.reader.begin(Instant::now(), watch.written_bytes());
                return self.await_reader(verdict);
            }
        }
        None
    }

    /// Goes on waiting for the client to take its answer, or gives it up.
    fn await_reader(&mut self, pause: Option<Duration>) -> Option<Ending> {
        let Some(pause) = pause else {
            return Some(Ending::Stuck);
        };
        self.deadline.set(pause);
        None
    }

    /// The deadline has passed: how the conversation ends, or `None` after it was set anew.
    fn exhausted(&mut self, watch: &Watch) -> Option<Ending> {
        match self.phase? {
            Phase::Idle => Some(Ending::Idle),
            Phase::Head => Some(Ending::Over(Some(Refusal::TooSlow))),
            Phase::Answering => Some(Ending::Over(None)),
            Phase::Writing => {
                let verdict = self.reader.look(Instant::now(), watch.written_bytes());
                self.await_reader(verdict)
            }
            Phase::Body => {
                let floor = self
                    .since
                    .elapsed()
                    .as_secs()
                    .saturating_mul(self.settings.body_min_rate);
                if watch.body_bytes() - self.received < floor {
                    return Some(Ending::Over(watch.may_refuse().then_some(Refusal::TooSlow)));
                }
                self.deadline.set(BODY_CHECK);
                None
            }
        }
    }
}

/// Says what remains to be said and closes the connection, without a reset that would take the
/// answer from the client.
async fn close(mut stream: Stream, refusal: Option<Refusal>, linger: bool) {
    if let Some(refusal) = refusal {
        // A client that cannot be told has gone.
        let _ = stream.write_all(&refusal.into_bytes()).await;
    }
    if stream.shutdown().await.is_err() || !linger {
        return;
    }
    let drain = async {
        let mut waste = vec![0; LINGER_READ];
        while let Ok(Ok(1..)) = timeout(LINGER_PAUSE, stream.read(&mut waste)).await {}
    };
    // A client that still sends after LINGER has had its time.
    let _ = timeout(LINGER, drain).await;
}
