use carat_guard::MessagePosition;
use std::cell::{Cell, RefCell};
use std::task::Waker;

use super::refusal::Refusal;

/// What one connection is doing, shared by those who read, serve and write it.
#[derive(Debug)]
pub(crate) struct Watch {
    heard: Cell<bool>,
    position: Cell<MessagePosition>,
    answering: Cell<bool>,
    held: RefCell<Option<Waker>>,
    refusal: Cell<Option<Refusal>>,
    body_bytes: Cell<u64>,
    body_paused: Cell<bool>,
    body_pauses: Cell<u32>,
    answer_begun: Cell<bool>,
    write_blocked: Cell<bool>,
    written_bytes: Cell<u64>,
    linger: Cell<bool>,
}

/// What a connection waits for; each phase has a deadline of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The next request.
    Idle,
    /// The rest of a request's head.
    Head,
    /// The rest of a request's body.
    Body,
    /// The application.
    Answering,
    /// The client, to read its answer.
    Writing,
}

impl Watch {
    pub(crate) fn new() -> Watch {
        Watch {
            heard: Cell::new(false),
            position: Cell::new(MessagePosition::BetweenMessages),
            answering: Cell::new(false),
            held: RefCell::new(None),
            refusal: Cell::new(None),
            body_bytes: Cell::new(0),
            body_paused: Cell::new(false),
            body_pauses: Cell::new(0),
            answer_begun: Cell::new(false),
            write_blocked: Cell::new(false),
            written_bytes: Cell::new(0),
            linger: Cell::new(false),
        }
    }

    /// The client has sent something.
    pub(crate) fn hear(&self) {
        self.heard.set(true);
    }

    /// Whether the client has sent anything in this conversation.
    pub(crate) fn has_heard(&self) -> bool {
        self.heard.get()
    }

    /// A whole head has been handed to hyper: until the answer is out, no other message begins.
    pub(crate) fn begin_message(&self) {
        self.answering.set(true);
        self.body_bytes.set(0);
        self.body_paused.set(false);
        self.answer_begun.set(false);
    }

    /// The answer is on its way to the client.
    pub(crate) fn begin_answer(&self) {
        self.answer_begun.set(true);
    }

    /// Whether a refusal can be sent: not in the middle of a message that has been answered already.
    pub(crate) fn may_refuse(&self) -> bool {
        !self.answer_begun.get() || self.body_has_arrived()
    }

    /// The answer's body has been handed to hyper, or there will be none.
    pub(crate) fn end_message(&self) {
        self.answering.set(false);
        if let Some(waker) = self.held.take() {
            waker.wake();
        }
    }

    /// Whether an answer is under way.
    pub(crate) fn is_answering(&self) -> bool {
        self.answering.get()
    }

    /// Bytes of the next message are held back; `waker` is woken when the answer is out.
    pub(crate) fn hold(&self, waker: &Waker) {
        self.held.replace(Some(waker.clone()));
    }

    /// Nothing more is read from this connection; the first reason stands.
    pub(crate) fn refuse(&self, refusal: Refusal) {
        if self.refusal.get().is_none() {
            self.refusal.set(Some(refusal));
        }
    }

    /// Why nothing more is read.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        self.refusal.get()
    }

    /// The answer has said why nothing more is read.
    pub(crate) fn refusal_answered(&self) {
        self.refusal.set(None);
    }

    /// Counts bytes of the body that is being received.
    pub(crate) fn count_body(&self, bytes: usize) {
        self.body_bytes.set(self.body_bytes.get() + bytes as u64);
    }

    /// Bytes of the current body so far, with its framing.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes.get()
    }

    /// Whether the client has sent all of the body.
    pub(crate) fn body_has_arrived(&self) -> bool {
        self.position.get() != MessagePosition::InBody
    }

    /// Tells whether the rest of the body is not wanted at the moment.
    pub(crate) fn pause_body(&self, paused: bool) {
        if self.body_paused.replace(paused) != paused {
            self.body_pauses.set(self.body_pauses.get().wrapping_add(1));
        }
    }

    /// Changes whenever the body is paused or wanted again.
    pub(crate) fn body_pauses(&self) -> u32 {
        self.body_pauses.get()
    }

    /// Tells whether the client takes what is written.
    pub(crate) fn set_write_blocked(&self, blocked: bool) {
        self.write_blocked.set(blocked);
    }

    /// Counts bytes that the client, or the kernel on its way, has taken.
    pub(crate) fn count_written(&self, bytes: usize) {
        self.written_bytes
            .set(self.written_bytes.get() + bytes as u64);
    }

    /// Bytes that were written in this conversation.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes.get()
    }

    /// The connection is closed with bytes of the client unread: it must be drained for a while, or
    /// the kernel resets it and the client loses its answer.
    pub(crate) fn linger(&self) {
        self.linger.set(true);
    }

    /// Whether the connection must be drained after its last answer.
    pub(crate) fn must_linger(&self) -> bool {
        self.linger.get()
    }

    /// The guard has come this far in the client's bytes.
    pub(crate) fn set_position(&self, position: MessagePosition) {
        self.position.set(position);
    }

    /// What the connection waits for.
    pub(crate) fn phase(&self) -> Phase {
        match self.position.get() {
            _ if self.write_blocked.get() => Phase::Writing,
            MessagePosition::InBody if !self.body_paused.get() => Phase::Body,
            _ if self.answering.get() => Phase::Answering,
            MessagePosition::InBody => Phase::Body,
            MessagePosition::InHeaders => Phase::Head,
            MessagePosition::BetweenMessages => Phase::Idle,
        }
    }
}
