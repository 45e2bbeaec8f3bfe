use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;

use super::changes::ChangedUrl;
use super::counts::CacheCounts;
use super::flights::Flights;
use crate::{RequestKey, Store, StoredResponse, UrlHost};
use carat_exchange::{Call, Refusal, Reply, RequestTarget, clock};
use carat_http::RequestDispatch;

/// Public responses of the application, kept in memory for further requests.
#[derive(Debug)]
pub(super) struct ResponseCache {
    pub(super) store: RefCell<Store>,
    pub(super) flights: Flights,
    pub(super) counts: CacheCounts,
    pub(super) dispatch: Rc<RequestDispatch>,
    /// The number of requests that fetch a response in the background.
    pub(super) refreshes: Rc<Cell<usize>>,
    /// The generation that serves. Responses of workers of older generations are not stored.
    generation: Cell<u32>,
    /// Whether clients need the memory. Nothing is stored then.
    gives_way: Cell<bool>,
}

impl ResponseCache {
    /// A cache of up to `limit` bytes.
    pub(super) fn new(limit: u64, dispatch: &Rc<RequestDispatch>) -> Rc<ResponseCache> {
        Rc::new(ResponseCache {
            store: RefCell::new(Store::new(usize::try_from(limit).unwrap_or(usize::MAX))),
            flights: Flights::default(),
            counts: CacheCounts::default(),
            dispatch: Rc::clone(dispatch),
            refreshes: Rc::default(),
            generation: Cell::new(0),
            gives_way: Cell::new(false),
        })
    }

    /// Sets the generation that serves, and removes all responses, which older code has made.
    pub(super) fn adopt(&self, generation: u32) {
        self.generation.set(generation);
        self.store.borrow_mut().clear();
    }

    /// Sets whether clients need the memory. While they do, nothing is stored, and all responses
    /// are removed.
    pub(super) fn give_way(&self, gives_way: bool) {
        self.gives_way.set(gives_way);
        if gives_way {
            self.store.borrow_mut().clear();
        }
    }

    /// Removes the stored responses that a request may have changed, if its reply is a success or a
    /// redirection.
    pub(super) fn note_change(&self, changed: ChangedUrl, reply: &Result<Reply, Refusal>) {
        let Ok(reply) = reply else { return };
        let status = reply.response.status();
        if status.is_success() || status.is_redirection() {
            let now = clock::now();
            for url in changed.all(reply.response.headers()) {
                self.store.borrow_mut().invalidate(&url, now);
            }
        }
    }

    /// Whether a reply may be stored: the generation that serves has made it, and clients do not
    /// need the memory.
    pub(super) fn may_keep(&self, reply: &Reply) -> bool {
        let is_of_code = |generation: NonZeroU32| generation.get() >= self.generation.get();
        let generation = reply.response.body().generation;
        generation.is_some_and(is_of_code) && !self.gives_way.get()
    }

    pub(super) fn keep_form(
        &self,
        entry: &Rc<StoredResponse>,
        coding: &'static str,
        made: Option<&Bytes>,
    ) {
        let made = made.map(|bytes| &bytes[..]);
        self.store.borrow_mut().keep_form(entry, coding, made);
    }

    pub(super) fn pass(&self, key: &RequestKey, now: Instant) {
        self.store.borrow_mut().pass(key, now);
    }
}

/// The key of a request in the cache: its URL, and the header fields that applications read without
/// naming them.
pub(super) fn key_of(call: &Call) -> RequestKey {
    let target = RequestTarget::of(call);
    RequestKey::new(
        call.scheme().name(),
        UrlHost::of(target.server_name, target.server_port),
        target.path,
        target.query,
        &call.parts.headers,
    )
}
