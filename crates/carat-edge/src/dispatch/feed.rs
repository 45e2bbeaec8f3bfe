use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use carat_wire::stream::{PIECE_LIMIT, encode_abort, encode_chunk, encode_end};

use super::lane::Lane;

/// A request body that is handed over while it arrives, as whoever receives it sees it. A feed that is
/// dropped before its end breaks the body off.
#[derive(Debug)]
pub(crate) struct Feed(Rc<Shared>);

/// The same body as the request's lane sees it. When the last of these is dropped, nobody reads any more.
#[derive(Debug)]
pub(crate) struct Intake(Rc<Shared>);

/// The same body as whoever waits for the answer sees it.
#[derive(Debug)]
pub(crate) struct Readers(Rc<Shared>);

struct Shared {
    /// Bytes in the body, if the client has said so.
    length: Option<u64>,
    state: RefCell<State>,
}

struct State {
    stage: Stage,
    /// Where the request is: its lane, and its id there.
    place: Option<(Rc<Lane>, u32)>,
    /// Bytes that the worker still takes; none before it has asked for the first time.
    window: u64,
    /// Whether the worker has asked for any of it: from then on the request cannot be repeated.
    has_begun: bool,
    /// When something was handed over last.
    moved: Instant,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// The worker has been told that the body is complete.
    Ended,
    /// The rest will not come.
    Broken,
    /// Nobody reads the rest.
    Unread,
}

/// The two ends of a request body of `length` bytes, as far as that is known.
pub(crate) fn feed(length: Option<u64>) -> (Feed, Intake) {
    let shared = Rc::new(Shared {
        length,
        state: RefCell::new(State {
            stage: Stage::Open,
            place: None,
            window: 0,
            has_begun: false,
            moved: Instant::now(),
            waker: None,
        }),
    });
    (Feed(Rc::clone(&shared)), Intake(shared))
}

impl Feed {
    /// Waits until the worker takes something: how many bytes, or `None` when nobody reads any more.
    pub(crate) async fn room(&self) -> Option<usize> {
        poll_fn(|cx| {
            let mut state = self.0.state.borrow_mut();
            match state.stage {
                Stage::Open if state.window == 0 => {
                    state.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
                Stage::Open => Poll::Ready(Some(
                    usize::try_from(state.window).map_or(PIECE_LIMIT, |room| room.min(PIECE_LIMIT)),
                )),
                Stage::Ended | Stage::Broken | Stage::Unread => Poll::Ready(None),
            }
        })
        .await
    }

    /// Those who read.
    pub(crate) fn readers(&self) -> Readers {
        Readers(Rc::clone(&self.0))
    }

    /// Waits until nobody reads any more.
    pub(crate) fn unread(&self) -> impl Future<Output = ()> + use<> {
        let shared = Rc::clone(&self.0);
        poll_fn(move |cx| {
            let mut state = shared.state.borrow_mut();
            if state.stage == Stage::Unread {
                return Poll::Ready(());
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// Whether `room` has to wait.
    pub(crate) fn is_full(&self) -> bool {
        let state = self.0.state.borrow();
        state.stage == Stage::Open && state.window == 0
    }

    /// Hands over a piece, which is no larger than `room` has said.
    pub(crate) fn send(&self, piece: &[u8]) {
        let mut state = self.0.state.borrow_mut();
        state.window = state.window.saturating_sub(piece.len() as u64);
        state.tell(|out, id| encode_chunk(out, id, piece));
    }

    /// The body is complete.
    pub(crate) fn end(&self) {
        self.0.state.borrow_mut().finish(Stage::Ended);
    }
}

impl Readers {
    /// Whether they have left before the end.
    pub(crate) fn have_left(&self) -> bool {
        self.0.state.borrow().stage == Stage::Unread
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.state.borrow_mut().finish(Stage::Broken);
    }
}

impl Intake {
    /// Bytes in the body, if the client has said so.
    pub(super) fn length(&self) -> Option<u64> {
        self.0.length
    }

    /// Whether the application may have seen some of the body.
    pub(super) fn has_begun(&self) -> bool {
        self.0.state.borrow().has_begun
    }

    /// The request is on `lane` as `id` from now on.
    pub(super) fn connect(&self, lane: Rc<Lane>, id: u32) {
        self.0.state.borrow_mut().place = Some((lane, id));
    }

    /// The worker takes `bytes` more.
    pub(super) fn grant(&self, bytes: u32) {
        let mut state = self.0.state.borrow_mut();
        state.has_begun = true;
        match state.stage {
            Stage::Open => {
                state.window += u64::from(bytes);
                state.wake();
            }
            // It had not begun when it was told.
            Stage::Broken => state.tell(encode_abort),
            Stage::Ended | Stage::Unread => {}
        }
    }

    /// Nobody reads the rest.
    pub(super) fn close(&self) {
        let mut state = self.0.state.borrow_mut();
        if state.stage == Stage::Open {
            state.stage = Stage::Unread;
        }
        state.place = None;
        state.wake();
    }

    /// How long the application has had all that it has asked for.
    pub(super) fn stood_still(&self, now: Instant) -> Duration {
        let state = self.0.state.borrow();
        if state.stage == Stage::Open && state.window > 0 {
            return Duration::ZERO;
        }
        now.saturating_duration_since(state.moved)
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.close();
    }
}

impl State {
    /// Nothing more is handed over.
    fn finish(&mut self, stage: Stage) {
        if self.stage != Stage::Open {
            return;
        }
        self.stage = stage;
        self.tell(if stage == Stage::Ended {
            encode_end
        } else {
            encode_abort
        });
    }

    fn tell(&mut self, encode: impl FnOnce(&mut Vec<u8>, u32)) {
        self.moved = Instant::now();
        if let Some((lane, id)) = &self.place {
            lane.push(|out| encode(out, *id));
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the lane, which holds the request that holds this.
        f.debug_struct("Shared")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
