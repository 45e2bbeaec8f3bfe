use std::rc::Rc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use http::header::DATE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::task::spawn_local;

use super::cached_reply::{CONFIRMED, PASSED, STALE, STORED, say};
use super::flights::{Joined, Lead};
use super::lookup::Asked;
use super::response_cache::ResponseCache;
use crate::{
    ExchangeTimes, Exchanged, RequestKey, RequestPolicy, Store, StoredResponse, ask_to_confirm,
    confirmed, is_failure,
};
use carat_body::response::read_file;
use carat_exchange::{Call, Refusal, Reply, ReplyContent, clock};
use carat_http::Later;

/// The most requests that fetch a response in the background at once. Beyond it, stale responses
/// are sent, and nothing is fetched.
const REFRESHES_LIMIT: usize = 16;

/// A request that was passed to the application.
struct Forwarded {
    key: RequestKey,
    policy: RequestPolicy,
    /// The header fields as the client sent them.
    headers: HeaderMap,
    asked: Instant,
    /// The stored response that the application is asked to confirm.
    stale: Option<Rc<StoredResponse>>,
}

impl ResponseCache {
    /// Passes a request to the application at once, before the returned future runs, and stores the
    /// response if it may be stored.
    pub(super) fn forward(
        self: &Rc<Self>,
        asked: Asked,
        stale: Option<Rc<StoredResponse>>,
        lead: Option<Lead>,
    ) -> Later<Result<Reply, Refusal>> {
        self.counts.misses.add();
        let mut call = asked.call;
        let forwarded = Forwarded {
            key: asked.key,
            policy: asked.policy,
            headers: call.parts.headers.clone(),
            asked: clock::now(),
            stale: stale.filter(|_| !asked.policy.is_head),
        };
        if let Some(entry) = &forwarded.stale {
            ask_to_confirm(&mut call.parts.headers, entry);
        }
        let pending = self.dispatch.dispatch(call);
        let cache = Rc::clone(self);
        Box::pin(async move {
            let reply = match pending {
                Ok(pending) => pending.await,
                Err(refusal) => Err(refusal),
            };
            let reply = cache.receive(&forwarded, reply).await;
            lead.into_iter().for_each(Lead::land);
            reply
        })
    }

    /// Fetches a response anew in the background, unless another request does, or too many are
    /// being fetched.
    pub(super) fn refresh(
        self: &Rc<Self>,
        call: Call,
        key: RequestKey,
        policy: RequestPolicy,
        entry: &Rc<StoredResponse>,
    ) {
        let running = Rc::clone(&self.refreshes);
        if policy.is_head || policy.is_authorized || running.get() >= REFRESHES_LIMIT {
            return;
        }
        let asked = Asked {
            call: self.background(call),
            key,
            policy,
            arrived: clock::now(),
        };
        let (Some(refreshing), Joined::Leads(lead)) = (
            entry.begin_refresh(),
            self.flights.join(self.shared_key(&asked)),
        ) else {
            return;
        };
        running.set(running.get() + 1);
        let fetched = self.forward(asked, Some(Rc::clone(entry)), Some(lead));
        spawn_local(async move {
            // No client waits for this response: if it may be stored, it is in the cache now.
            drop(fetched.await);
            drop(refreshing);
            running.set(running.get() - 1);
        });
    }

    /// A GET request like this one, without its client.
    fn background(&self, call: Call) -> Call {
        let memory = self.dispatch.account();
        let mut own = Call::new(call.parts, call.peer, memory);
        own.parts.method = Method::GET;
        own.forwarded = call.forwarded;
        own
    }

    /// Makes the client's reply from the application's, and stores it if it may be stored. The
    /// client gets the stored response if the application has confirmed it, or has failed.
    async fn receive(
        self: &Rc<Self>,
        forwarded: &Forwarded,
        reply: Result<Reply, Refusal>,
    ) -> Result<Reply, Refusal> {
        let now = clock::now();
        let has_failed = |reply: &Reply| is_failure(reply.response.status());
        if reply.as_ref().map_or(true, has_failed) {
            let stale = forwarded.stale.as_ref();
            if let Some(entry) = stale.filter(|entry| entry.freshness.covers_failure(now)) {
                self.counts.stale.add();
                return Ok(self.reply(entry, &forwarded.headers, forwarded.policy, STALE));
            }
        }
        let mut reply = reply.inspect_err(|_| self.pass_on(forwarded, now))?;
        let times = ExchangeTimes {
            asked: forwarded.asked,
            received: now,
            date: SystemTime::now(),
        };
        if let (Some(entry), StatusCode::NOT_MODIFIED) = (&forwarded.stale, reply.response.status())
        {
            return Ok(self.confirm(forwarded, entry, reply, &times));
        }
        date(reply.response.headers_mut(), times.date);
        let stored = self.keep(forwarded, &mut reply, &times).await;
        let Some(entry) = stored else {
            self.drop_stale(forwarded, &reply);
            self.pass_on(forwarded, now);
            say(reply.response.headers_mut(), PASSED);
            return Ok(reply);
        };
        let answer = self.reply(&entry, &forwarded.headers, forwarded.policy, STORED);
        reply.response = answer.response;
        Ok(reply)
    }

    /// Makes the client's reply from a stored response that the application has confirmed, and
    /// stores what has changed in its header fields.
    fn confirm(
        self: &Rc<Self>,
        forwarded: &Forwarded,
        entry: &Rc<StoredResponse>,
        mut reply: Reply,
        times: &ExchangeTimes,
    ) -> Reply {
        self.counts.revalidated.add();
        date(reply.response.headers_mut(), times.date);
        let headers = confirmed(&entry.headers, reply.response.headers());
        let exchanged = Exchanged {
            key: &forwarded.key,
            request: &forwarded.headers,
            response: (StatusCode::NOT_MODIFIED, &headers),
            times,
        };
        let kept = self.may_keep(&reply).then(|| {
            let mut store = self.store.borrow_mut();
            store.confirm(&exchanged, entry)
        });
        let entry = kept
            .flatten()
            .unwrap_or_else(|| Rc::new(entry.confirmed(&headers, entry.freshness)));
        let answer = self.reply(&entry, &forwarded.headers, forwarded.policy, CONFIRMED);
        reply.response = answer.response;
        reply
    }

    /// Stores a response, if it may be stored.
    async fn keep(
        &self,
        forwarded: &Forwarded,
        reply: &mut Reply,
        times: &ExchangeTimes,
    ) -> Option<Rc<StoredResponse>> {
        let is_wanted = !forwarded.policy.is_head && !forwarded.policy.wishes.no_store;
        if !is_wanted || !self.may_keep(reply) {
            return None;
        }
        let headers = reply.response.headers().clone();
        let exchanged = Exchanged {
            key: &forwarded.key,
            request: &forwarded.headers,
            response: (reply.response.status(), &headers),
            times,
        };
        if !Store::admits(&exchanged) {
            return None;
        }
        let body = self.whole_body(reply).await?;
        // Newer code may serve by now, or clients may need the memory.
        if !self.may_keep(reply) {
            return None;
        }
        self.store.borrow_mut().insert(&exchanged, &body)
    }

    /// The whole body; `None` if it is too large, or a stream. A stream is made only as fast as its
    /// client reads, so requests that wait for its end would wait for a slow client.
    async fn whole_body(&self, reply: &Reply) -> Option<Bytes> {
        let limit = self.store.borrow().entry_limit() as u64;
        let body = reply.response.body();
        if body.is_failure || body.length().is_none_or(|length| length > limit) {
            return None;
        }
        match &body.content {
            ReplyContent::Full(bytes) => Some(bytes.clone()),
            ReplyContent::File(file) => read_file(file.clone()).await.ok(),
            ReplyContent::Stored(_) | ReplyContent::Stream(_) | ReplyContent::Tunnel(_) => None,
        }
    }

    /// Removes the stale response, since a newer one has come that was not stored. A server error
    /// does not replace it.
    fn drop_stale(&self, forwarded: &Forwarded, reply: &Reply) {
        if let Some(stale) = &forwarded.stale {
            if !reply.response.status().is_server_error() {
                self.store.borrow_mut().remove(stale);
            }
        }
    }

    /// Has requests for this URL no longer wait for each other, because this response cannot be
    /// stored.
    fn pass_on(&self, forwarded: &Forwarded, now: Instant) {
        if forwarded.policy.is_shareable || forwarded.stale.is_some() {
            self.pass(&forwarded.key, now);
        }
    }
}

/// Adds the header field Date if the application has not (RFC 9110, section 6.6.1).
fn date(headers: &mut HeaderMap, now: SystemTime) {
    headers.entry(DATE).or_insert_with(|| {
        let text = httpdate::fmt_http_date(now);
        HeaderValue::try_from(text).expect("a date is ASCII")
    });
}
