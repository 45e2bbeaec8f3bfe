use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::entry::{CountedBody, StoredResponse};
use crate::pass_list::PassList;
use crate::queues::{Queues, VariantSlot};
use crate::selection::{RequestKey, Selection, unanswered};
use crate::storable::{self, ExchangeTimes};

/// The largest response may take the size of the cache divided by this.
const ENTRY_SHARE: usize = 16;
/// The most responses for one URL, to requests with different header fields. Beyond it, the
/// response that was asked for least is evicted.
const VARIANTS_LIMIT: usize = 32;
/// The most invalidated URLs that are remembered. A response that was requested before the newest
/// forgotten change is not stored, since that change may concern its URL.
const CHANGES_LIMIT: usize = 256;
/// The most bytes that a new response may evict, as a multiple of what it needs. It may need to
/// evict more than its own bytes, since evicted bodies that are still being sent keep their memory.
const EVICTION_FACTOR: usize = 2;

/// Stored responses, which take a bounded number of bytes.
#[derive(Debug)]
pub struct Store {
    limit: usize,
    urls: HashMap<Rc<[u8]>, Vec<Rc<VariantSlot>>>,
    queues: Queues,
    passes: PassList,
    /// Hashes of the URLs that were invalidated last, and the times.
    changes: VecDeque<(u64, Instant)>,
    /// The time of the newest change that is not in `changes` any more.
    forgotten_change: Option<Instant>,
    hasher: RandomState,
    /// Bytes of all bodies, with those that are still being sent after their entry has gone.
    live: Arc<AtomicUsize>,
    /// Bytes that entries take in addition to their bodies.
    heads: usize,
    entries: usize,
    evictions: u64,
}

/// A request and its response, which may be stored.
#[derive(Clone, Copy)]
pub struct Exchanged<'a> {
    /// The key of the request.
    pub key: &'a RequestKey,
    /// The header fields of the request as the application got them.
    pub request: &'a HeaderMap,
    /// The status and the header fields of the response.
    pub response: (StatusCode, &'a HeaderMap),
    /// The times of request and response.
    pub times: &'a ExchangeTimes,
}

impl Store {
    /// An empty store.
    pub fn new(limit: usize) -> Store {
        Store {
            limit,
            urls: HashMap::new(),
            queues: Queues::default(),
            passes: PassList::default(),
            changes: VecDeque::new(),
            forgotten_change: None,
            hasher: RandomState::new(),
            live: Arc::default(),
            heads: 0,
            entries: 0,
            evictions: 0,
        }
    }

    /// The most bytes that the store may take.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes that the store takes, with bodies that are still being sent after their entry has
    /// gone.
    pub fn used(&self) -> usize {
        self.heads + self.live.load(Ordering::Relaxed)
    }

    /// The number of stored responses.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The number of responses that were evicted to make room for others.
    pub fn evictions(&self) -> u64 {
        self.evictions
    }

    /// The most bytes of one response.
    pub fn entry_limit(&self) -> usize {
        self.limit / ENTRY_SHARE
    }

    /// The newest response that answers the request.
    pub fn find(&self, key: &RequestKey, request: &HeaderMap) -> Option<Rc<StoredResponse>> {
        let slots = self.urls.get(&*key.url)?.iter().rev();
        let mut selected = slots.filter_map(|slot| {
            let entry = slot.entry.borrow().clone()?;
            let is_it = slot.selection.selects(key, request, &entry.headers);
            is_it.then_some((slot, entry))
        });
        let (slot, entry) = selected.next()?;
        slot.note_hit();
        Some(entry)
    }

    /// The key of the requests that wait for each other, because they will get the same response as
    /// far as is known.
    pub fn shared_key(&self, key: &RequestKey, request: &HeaderMap) -> Vec<u8> {
        let newest = self.urls.get(&*key.url).and_then(|slots| slots.last());
        let mut text = newest.map_or_else(
            || unanswered(key, request),
            |slot| slot.selection.for_request(key, request),
        );
        text.push(0);
        text.extend_from_slice(&key.url);
        text
    }

    /// Whether a recent response for this URL could not be stored.
    pub fn passes(&self, key: &RequestKey, now: Instant) -> bool {
        self.passes.contains(self.hash(&key.url), now)
    }

    /// Notes a request whose response cannot be stored: further requests for the URL are not to
    /// wait for each other.
    pub fn pass(&mut self, key: &RequestKey, now: Instant) {
        let hash = self.hash(&key.url);
        self.passes.add(hash, now);
    }

    /// Whether a response may be stored, whatever its body is.
    pub fn admits(exchanged: &Exchanged<'_>) -> bool {
        let (status, headers) = exchanged.response;
        storable::freshness(status, headers, exchanged.times).is_some()
            && Selection::of(exchanged.key, exchanged.request, headers).is_some()
    }

    /// Stores a response. `None` if it may not be stored, or is too large.
    pub fn insert(&mut self, exchanged: &Exchanged<'_>, body: &[u8]) -> Option<Rc<StoredResponse>> {
        let (status, headers) = exchanged.response;
        let freshness = storable::freshness(status, headers, exchanged.times)?;
        let selection = Selection::of(exchanged.key, exchanged.request, headers)?;
        if self.has_changed(exchanged) {
            return None;
        }
        let url = self.shared_url(exchanged.key);
        let mut entry = StoredResponse::new(url, status, headers, Bytes::new(), freshness);
        let head = head_bytes(exchanged.key, &selection, &entry);
        if !self.make_room(head + body.len()) {
            return None;
        }
        entry.body = CountedBody::of(body, &self.live);
        Some(self.put(selection, entry))
    }

    /// Replaces the header fields of a response that the application has confirmed. `None` if it
    /// may not be stored any more: then it is removed.
    pub fn confirm(
        &mut self,
        exchanged: &Exchanged<'_>,
        entry: &Rc<StoredResponse>,
    ) -> Option<Rc<StoredResponse>> {
        let (_, headers) = exchanged.response;
        let freshness = storable::freshness(entry.status, headers, exchanged.times);
        let selection = Selection::of(exchanged.key, exchanged.request, headers);
        let selection = selection.filter(|_| !self.has_changed(exchanged));
        let (Some(freshness), Some(selection)) = (freshness, selection) else {
            self.remove(entry);
            return None;
        };
        Some(self.put(selection, entry.confirmed(headers, freshness)))
    }

    /// Keeps the body of a response in a content coding, or notes that it could not be made.
    pub fn keep_form(
        &mut self,
        entry: &Rc<StoredResponse>,
        coding: &'static str,
        made: Option<&[u8]>,
    ) {
        let slot = self.slot_of(entry);
        let kept = made.filter(|made| slot.is_some() && self.make_room(made.len()));
        // Making room may have evicted the entry itself.
        let slot = slot.filter(|slot| holds(slot, entry));
        let form = kept.map(|bytes| CountedBody::of(bytes, &self.live));
        if kept.is_some() || made.is_none() {
            entry.end_form(coding, form);
        }
        if let Some(slot) = slot {
            let head = slot_head(&slot, entry);
            self.queues.resize(&slot, head + entry.body_bytes());
        }
    }

    /// Removes all responses for a URL, because its resource has changed. Responses to requests
    /// from before the change will not be stored.
    pub fn invalidate(&mut self, url: &[u8], now: Instant) {
        if self.changes.len() == CHANGES_LIMIT {
            self.forgotten_change = self.changes.pop_front().map(|(_, at)| at);
        }
        self.changes.push_back((self.hash(url), now));
        for slot in self.urls.remove(url).unwrap_or_default() {
            self.forget(&slot);
        }
    }

    /// Removes a response.
    pub fn remove(&mut self, entry: &Rc<StoredResponse>) {
        if let Some(slot) = self.slot_of(entry) {
            self.detach(&slot);
            self.forget(&slot);
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.urls.clear();
        self.queues = Queues::default();
        self.passes.clear();
        (self.heads, self.entries) = (0, 0);
    }

    fn put(&mut self, selection: Selection, entry: StoredResponse) -> Rc<StoredResponse> {
        let entry = Rc::new(entry);
        let hash = self.hash(&entry.url);
        self.passes.remove(hash);
        let slot = self.slot_for(&entry.url, selection);
        if let Some(before) = slot.entry.replace(Some(Rc::clone(&entry))) {
            self.heads -= slot_head(&slot, &before);
        } else {
            self.entries += 1;
        }
        let head = slot_head(&slot, &entry);
        self.heads += head;
        self.queues.resize(&slot, head + entry.body_bytes());
        entry
    }

    /// The URL as a text that the responses for it share.
    fn shared_url(&self, key: &RequestKey) -> Rc<[u8]> {
        let known = self.urls.get_key_value(&*key.url);
        known.map_or_else(|| Rc::from(&*key.url), |(url, _)| Rc::clone(url))
    }

    /// Whether the resource may have changed after the response was requested.
    fn has_changed(&self, exchanged: &Exchanged<'_>) -> bool {
        let (hash, asked) = (self.hash(&exchanged.key.url), exchanged.times.asked);
        let is_change = |change: &(u64, Instant)| change.0 == hash && change.1 >= asked;
        self.forgotten_change.is_some_and(|at| at >= asked) || self.changes.iter().any(is_change)
    }

    /// The slot for a selection, which becomes the newest of its URL.
    fn slot_for(&mut self, url: &Rc<[u8]>, selection: Selection) -> Rc<VariantSlot> {
        let slots = self.urls.entry(Rc::clone(url)).or_default();
        if let Some(index) = slots.iter().position(|slot| slot.selection == selection) {
            let slot = slots.remove(index);
            slots.push(Rc::clone(&slot));
            return slot;
        }
        if slots.len() >= VARIANTS_LIMIT {
            let least = slots.iter().enumerate().min_by_key(|(_, slot)| slot.hits());
            let index = least.map_or(0, |(index, _)| index);
            let slot = slots.remove(index);
            self.evictions += 1;
            self.forget(&slot);
        }
        let fingerprint = self.hasher.hash_one((url, &selection));
        let slot = VariantSlot::new(Rc::clone(url), selection, fingerprint);
        self.urls
            .entry(Rc::clone(url))
            .or_default()
            .push(Rc::clone(&slot));
        self.queues.add(&slot);
        slot
    }

    /// Evicts responses until there is room for `bytes` bytes, and returns whether there is.
    /// Nothing is evicted for a response that would not fit anyway.
    fn make_room(&mut self, bytes: usize) -> bool {
        let sent_only = self.used().saturating_sub(self.queues.bytes());
        if bytes > self.entry_limit() || bytes + sent_only > self.limit {
            return false;
        }
        let least = self.queues.bytes().saturating_sub(bytes * EVICTION_FACTOR);
        while self.used() + bytes > self.limit {
            if self.queues.bytes() < least || !self.evict() {
                return false;
            }
        }
        true
    }

    fn evict(&mut self) -> bool {
        let Some(slot) = self.queues.evict() else {
            return false;
        };
        self.detach(&slot);
        if let Some(entry) = slot.entry.take() {
            self.evictions += 1;
            self.entries -= 1;
            self.heads -= slot_head(&slot, &entry);
        }
        true
    }

    /// Removes a slot from the list of its URL.
    fn detach(&mut self, slot: &Rc<VariantSlot>) {
        if let Some(slots) = self.urls.get_mut(&slot.url) {
            slots.retain(|other| !Rc::ptr_eq(other, slot));
            if slots.is_empty() {
                self.urls.remove(&slot.url);
            }
        }
    }

    /// Empties a slot that was removed from the list of its URL.
    fn forget(&mut self, slot: &VariantSlot) {
        let entry = slot.entry.borrow().clone();
        if let Some(entry) = entry {
            self.entries -= 1;
            self.heads -= slot_head(slot, &entry);
            self.queues.remove(slot);
        }
    }

    fn slot_of(&self, entry: &Rc<StoredResponse>) -> Option<Rc<VariantSlot>> {
        let mut slots = self.urls.get(&entry.url)?.iter();
        slots.find(|slot| holds(slot, entry)).cloned()
    }

    fn hash(&self, url: &[u8]) -> u64 {
        self.hasher.hash_one(url)
    }
}

fn holds(slot: &VariantSlot, entry: &Rc<StoredResponse>) -> bool {
    let held = slot.entry.borrow();
    held.as_ref().is_some_and(|held| Rc::ptr_eq(held, entry))
}

fn slot_head(slot: &VariantSlot, entry: &StoredResponse) -> usize {
    slot.url.len() + slot.selection.bytes() + entry.head_bytes()
}

fn head_bytes(key: &RequestKey, selection: &Selection, entry: &StoredResponse) -> usize {
    key.url.len() + selection.bytes() + entry.head_bytes()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use http::HeaderValue;
    use http::header::{CACHE_CONTROL, VARY};
    use proptest::prelude::*;

    use super::*;
    use crate::selection::UrlHost;

    const KIB: usize = 1024;
    const MOMENT: Duration = Duration::from_millis(1);

    struct World {
        store: Store,
        start: Instant,
        times: ExchangeTimes,
    }

    impl World {
        fn new(limit: usize) -> World {
            let now = Instant::now();
            World {
                store: Store::new(limit),
                start: now,
                times: ExchangeTimes {
                    asked: now + MOMENT,
                    received: now + MOMENT,
                    date: SystemTime::now(),
                },
            }
        }

        fn put(&mut self, path: &str, language: &str, body: &[u8]) -> Option<Rc<StoredResponse>> {
            let (key, request) = asked(path, language);
            let fields = [
                (CACHE_CONTROL, "public, max-age=60"),
                (VARY, "accept-language"),
            ];
            let fields = fields.map(|(name, value)| (name, HeaderValue::from_static(value)));
            let response = HeaderMap::from_iter(fields);
            let exchanged = Exchanged {
                key: &key,
                request: &request,
                response: (StatusCode::OK, &response),
                times: &self.times,
            };
            self.store.insert(&exchanged, body)
        }

        fn invalidate(&mut self, path: &str, at: Instant) {
            self.store.invalidate(asked(path, "").0.url(), at);
        }

        fn find(&self, path: &str, language: &str) -> Option<Rc<StoredResponse>> {
            let (key, request) = asked(path, language);
            self.store.find(&key, &request)
        }

        /// The counts of the store are those of its entries.
        fn check(&self) {
            let slots = self.store.urls.values().flatten();
            let entries: Vec<_> = slots
                .filter_map(|slot| Some((slot, slot.entry.borrow().clone()?)))
                .collect();
            assert_eq!(self.store.entries, entries.len());
            let weights = entries.iter().map(|(slot, entry)| {
                let found = slot.weight.get();
                assert_eq!(found, slot_head(slot, entry) + entry.body_bytes());
                slot.weight.get()
            });
            assert_eq!(self.store.queues.bytes(), weights.sum::<usize>());
            let heads = entries.iter().map(|(slot, entry)| slot_head(slot, entry));
            assert_eq!(self.store.heads, heads.sum::<usize>());
            assert!(self.store.used() <= self.store.limit);
        }
    }

    fn asked(path: &str, language: &str) -> (RequestKey, HeaderMap) {
        let language = HeaderValue::from_str(language).expect("a value");
        let request = HeaderMap::from_iter([(http::header::ACCEPT_LANGUAGE, language)]);
        let host = UrlHost::of(b"example.com", 80);
        let key = RequestKey::new("http", host, path, "", &request);
        (key, request)
    }

    #[test]
    fn a_url_has_a_response_for_each_selection() {
        let mut world = World::new(1024 * KIB);
        world.put("/", "de", b"guten Tag");
        world.put("/", "en", b"hello");
        world.put("/", "en", b"hello again");
        let body = |language| world.find("/", language).map(|entry| entry.body.clone());
        assert_eq!(body("de"), Some(Bytes::from_static(b"guten Tag")));
        assert_eq!(body("en"), Some(Bytes::from_static(b"hello again")));
        assert_eq!(body("fr"), None);
        assert_eq!(world.store.entries(), 2);
        world.check();
        world.invalidate("/", Instant::now());
        assert!(world.find("/", "de").is_none() && world.store.used() == 0);
        world.check();
    }

    #[test]
    fn variants_of_a_url_have_a_bound_and_the_one_in_use_stays() {
        let mut world = World::new(1024 * KIB);
        world.put("/", "en", b"hello");
        for index in 0..3 * VARIANTS_LIMIT {
            assert!(world.find("/", "en").is_some());
            world.put("/", &format!("x{index}"), b"noise");
        }
        assert_eq!(world.store.entries(), VARIANTS_LIMIT);
        assert!(world.find("/", "en").is_some());
        world.check();
    }

    #[test]
    fn a_scan_evicts_nothing_that_is_used() {
        let mut world = World::new(256 * KIB);
        for round in 0..2000 {
            for page in 0..10 {
                let path = format!("/popular/{page}");
                if world.find(&path, "en").is_none() {
                    assert_eq!(round, 0, "{path} was evicted");
                    world.put(&path, "en", &[0; KIB]);
                }
            }
            world.put(&format!("/scan/{round}"), "en", &[0; 8 * KIB]);
            world.check();
        }
        assert!(world.store.evictions() > 1900);
    }

    #[test]
    fn a_body_that_is_still_sent_counts_and_empties_the_cache_for_nothing() {
        let mut world = World::new(160 * KIB);
        let sent: Vec<_> = (0..12)
            .filter_map(|page| world.put(&format!("/{page}"), "en", &[0; 8 * KIB]))
            .map(|entry| entry.body.clone())
            .collect();
        assert_eq!(sent.len(), 12);
        for page in 0..12 {
            world.invalidate(&format!("/{page}"), world.start);
        }
        assert_eq!((world.store.entries(), world.store.used()), (0, 96 * KIB));
        for path in ["/kept", "/kept too", "/and this"] {
            world.put(path, "en", &[0; 8 * KIB]).expect("room");
        }
        world.check();
        drop(sent);
        assert!(world.store.used() < 40 * KIB);
        assert!(world.find("/kept", "en").is_some());
    }

    #[test]
    fn a_response_that_was_asked_for_before_a_change_is_not_stored() {
        let mut world = World::new(160 * KIB);
        let asked = world.times.asked;
        world.invalidate("/", asked);
        assert!(world.put("/", "en", b"old").is_none());
        world.put("/other", "en", b"page").expect("unchanged");
        world.times.asked += MOMENT;
        world.put("/", "en", b"new").expect("asked for later");
        for index in 0..=CHANGES_LIMIT {
            world.invalidate(&format!("/{index}"), asked + MOMENT);
        }
        let holds = world.put("/third", "en", b"page").is_none();
        assert!(holds, "nobody knows any more");
        world.times.asked += MOMENT;
        world.put("/third", "en", b"page").expect("asked for later");
    }

    #[test]
    fn what_is_too_large_is_not_stored_and_evicts_nothing() {
        let mut world = World::new(160 * KIB);
        world.put("/", "en", b"hello").expect("room");
        assert!(world.put("/large", "en", &[0; 10 * KIB]).is_none());
        assert!(world.find("/", "en").is_some());
        assert_eq!(world.store.evictions(), 0);
    }

    #[test]
    fn a_coding_counts_and_stays_with_a_confirmed_response() {
        let mut world = World::new(160 * KIB);
        let page = world.put("/", "en", &[0; KIB]).expect("room");
        let (key, request) = asked("/", "en");
        assert!(page.begin_form("gzip"));
        let before = world.store.used();
        world.store.keep_form(&page, "gzip", Some(b"small"));
        assert_eq!(world.store.used(), before + 5);
        world.check();
        let headers = page.headers.clone();
        let exchanged = Exchanged {
            key: &key,
            request: &request,
            response: (StatusCode::NOT_MODIFIED, &headers),
            times: &world.times,
        };
        let confirmed = world.store.confirm(&exchanged, &page);
        let confirmed = confirmed.expect("still public");
        assert_eq!(confirmed.form("gzip"), Some(Bytes::from_static(b"small")));
        drop(page);
        assert_eq!(world.store.used(), before + 5);
        world.check();
        let private = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static("private"))]);
        let exchanged = Exchanged {
            response: (StatusCode::NOT_MODIFIED, &private),
            ..exchanged
        };
        assert!(world.store.confirm(&exchanged, &confirmed).is_none());
        drop(confirmed);
        assert_eq!((world.store.entries(), world.store.used()), (0, 0));
    }

    proptest! {
        #[test]
        fn whatever_is_done_what_it_holds_has_its_bound(
            steps in prop::collection::vec((0..6_u8, 0..40_usize, 0..12_usize), 0..400)
        ) {
            let mut world = World::new(64 * KIB);
            let mut held = Vec::new();
            for (action, page, size) in steps {
                let path = format!("/{}", page / 2);
                let language = ["de", "en"][page % 2];
                let found = world.find(&path, language);
                match (action, found) {
                    (0..=2, None) => drop(world.put(&path, language, &vec![0; size * KIB / 4])),
                    (0, Some(entry)) if entry.begin_form("gzip") => {
                        world.store.keep_form(&entry, "gzip", Some(&vec![1; size * 10]));
                    }
                    (1, Some(_)) => drop(world.put(&path, language, &vec![0; size * KIB / 3])),
                    (3, Some(entry)) => held.push(entry.body.clone()),
                    (4, _) => world.invalidate(&path, world.start),
                    (5, _) => drop(held.pop()),
                    _ => {}
                }
                let sent: usize = held.iter().map(Bytes::len).sum();
                prop_assert!(world.store.used() <= world.store.limit.max(sent));
            }
            held.clear();
            world.check();
            world.store.clear();
            world.check();
        }
    }
}
