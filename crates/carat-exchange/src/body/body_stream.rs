use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use carat_wire::stream::PIECE_LIMIT;

use crate::clock;

/// The worker's side of a request body that is forwarded while it arrives.
pub trait BodySink {
    /// Sends a piece.
    fn send(&self, piece: &[u8]);
    /// Ends the body.
    fn end(&self);
    /// Reports that the rest will not arrive.
    fn abort(&self);
}

/// The end of a streamed request body that receives it from the client. Dropping it before [`end`](BodySender::end)
/// aborts the body.
#[derive(Debug)]
pub struct BodySender(Rc<SharedBody>);

/// The end of a streamed request body that the request's lane holds. Dropping it discards the rest of the body.
#[derive(Debug)]
pub struct BodyStream(Rc<SharedBody>);

/// Tells the client's side whether the application still reads a streamed body.
#[derive(Debug)]
pub struct BodyReaders(Rc<SharedBody>);

struct SharedBody {
    /// Length in bytes, if the client declared it.
    length: Option<u64>,
    state: RefCell<BodyStreamState>,
}

struct BodyStreamState {
    stage: BodyStage,
    /// Where the pieces go, as long as the request is on a lane.
    sink: Option<Box<dyn BodySink>>,
    /// How many more bytes the worker accepts; 0 before its first grant.
    window: u64,
    /// Whether the worker has granted any bytes. After that, the request cannot be repeated.
    has_begun: bool,
    /// When bytes were last sent.
    sent_at: Instant,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyStage {
    Open,
    /// The worker has the complete body.
    Complete,
    /// The rest will not arrive.
    Aborted,
    /// The rest will not be read.
    Discarded,
}

/// The two ends of a request body; `length` is its length in bytes, if known.
pub fn body_stream(length: Option<u64>) -> (BodySender, BodyStream) {
    let shared = Rc::new(SharedBody {
        length,
        state: RefCell::new(BodyStreamState {
            stage: BodyStage::Open,
            sink: None,
            window: 0,
            has_begun: false,
            sent_at: clock::now(),
            waker: None,
        }),
    });
    (BodySender(Rc::clone(&shared)), BodyStream(shared))
}

impl BodySender {
    /// Waits until the worker accepts bytes. Returns how many, or `None` once the body is over.
    pub async fn room(&self) -> Option<usize> {
        poll_fn(|cx| {
            let mut state = self.0.state.borrow_mut();
            match state.stage {
                BodyStage::Open if state.window == 0 => {
                    state.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                BodyStage::Open => Poll::Ready(Some(
                    usize::try_from(state.window).map_or(PIECE_LIMIT, |room| room.min(PIECE_LIMIT)),
                )),
                BodyStage::Complete | BodyStage::Aborted | BodyStage::Discarded => {
                    Poll::Ready(None)
                }
            }
        })
        .await
    }

    /// A handle that tells whether the body is still read.
    pub fn readers(&self) -> BodyReaders {
        BodyReaders(Rc::clone(&self.0))
    }

    /// Waits until the rest of the body is discarded.
    pub fn discarded(&self) -> impl Future<Output = ()> + use<> {
        let shared = Rc::clone(&self.0);
        poll_fn(move |cx| {
            let mut state = shared.state.borrow_mut();
            if state.stage == BodyStage::Discarded {
                return Poll::Ready(());
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// Whether `room` would wait.
    pub fn is_full(&self) -> bool {
        let state = self.0.state.borrow();
        state.stage == BodyStage::Open && state.window == 0
    }

    /// Sends a piece, at most as long as `room` returned.
    pub fn send(&self, piece: &[u8]) {
        let mut state = self.0.state.borrow_mut();
        state.window = state.window.saturating_sub(piece.len() as u64);
        state.forward(|sink| sink.send(piece));
    }

    /// Ends the body, which is complete.
    pub fn end(&self) {
        self.0.state.borrow_mut().finish(BodyStage::Complete);
    }
}

impl BodyReaders {
    /// Whether the rest of the body was discarded.
    pub fn have_left(&self) -> bool {
        self.0.state.borrow().stage == BodyStage::Discarded
    }
}

impl Drop for BodySender {
    fn drop(&mut self) {
        self.0.state.borrow_mut().finish(BodyStage::Aborted);
    }
}

impl BodyStream {
    /// Length in bytes, if the client declared it.
    pub fn length(&self) -> Option<u64> {
        self.0.length
    }

    /// Whether the application may have read some of the body.
    pub fn has_begun(&self) -> bool {
        self.0.state.borrow().has_begun
    }

    /// Sends the pieces to `sink` from now on: the request is on a lane.
    pub fn connect(&self, sink: Box<dyn BodySink>) {
        self.0.state.borrow_mut().sink = Some(sink);
    }

    /// The worker accepts `bytes` more.
    pub fn grant(&self, bytes: u32) {
        let mut state = self.0.state.borrow_mut();
        state.has_begun = true;
        match state.stage {
            BodyStage::Open => {
                state.window += u64::from(bytes);
                state.wake();
            }
            // The worker ignores an abort that reaches it before it begins to read.
            BodyStage::Aborted => state.forward(|sink| sink.abort()),
            BodyStage::Complete | BodyStage::Discarded => {}
        }
    }

    /// Discards the rest of the body.
    pub fn close(&self) {
        let mut state = self.0.state.borrow_mut();
        if state.stage == BodyStage::Open {
            state.stage = BodyStage::Discarded;
        }
        state.sink = None;
        state.wake();
    }

    /// How long ago the application got the last bytes that it had granted. Zero while it waits for more.
    pub fn idle_time(&self, now: Instant) -> Duration {
        let state = self.0.state.borrow();
        if state.stage == BodyStage::Open && state.window > 0 {
            return Duration::ZERO;
        }
        now.saturating_duration_since(state.sent_at)
    }
}

impl Drop for BodyStream {
    fn drop(&mut self) {
        self.close();
    }
}

impl BodyStreamState {
    fn finish(&mut self, stage: BodyStage) {
        if self.stage != BodyStage::Open {
            return;
        }
        self.stage = stage;
        if stage == BodyStage::Complete {
            self.forward(|sink| sink.end());
        } else {
            self.forward(|sink| sink.abort());
        }
    }

    fn forward(&mut self, act: impl FnOnce(&dyn BodySink)) {
        self.sent_at = clock::now();
        if let Some(sink) = &self.sink {
            act(sink.as_ref());
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl fmt::Debug for SharedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The sink is left out. It holds the lane, the lane holds the request, and the request holds this body.
        f.debug_struct("SharedBody")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
