use std::rc::Rc;
use std::time::{Duration, Instant};

use http::{HeaderMap, Response, StatusCode};
use tokio::time::timeout_at;

use super::cached_reply::{self, COLLAPSED, HIT, NOT_CACHED, STALE};
use super::flights::{Flight, Joined};
use super::response_cache::{ResponseCache, key_of};
use crate::{CacheVerdict, RequestKey, RequestPolicy, StoredResponse};
use carat_exchange::{Call, Refusal, Reply, ReplyBody, clock};
use carat_http::{ArrivedRequest, Later, PartStep, RequestAnswer};

/// How long a request waits for the response to another one. Then it goes to the application itself.
const WAIT_LIMIT: Duration = Duration::from_secs(5);

/// A request that the cache was asked about.
pub(super) struct Asked {
    pub(super) call: Call,
    pub(super) key: RequestKey,
    pub(super) policy: RequestPolicy,
    pub(super) arrived: Instant,
}

/// A stored response, and whether it answers the request.
type Found = Option<(Rc<StoredResponse>, CacheVerdict)>;

impl ResponseCache {
    /// Answers a request with a stored response. Without one, the request goes to the application,
    /// or waits for the response to a request like it.
    pub(super) fn look(self: &Rc<Self>, request: &mut ArrivedRequest) -> PartStep {
        let call = request.call();
        let parts = &call.parts;
        let Some(policy) = RequestPolicy::of(&parts.method, &parts.headers) else {
            return PartStep::Next;
        };
        let (key, arrived) = (key_of(call), clock::now());
        let headers = &call.parts.headers;
        let stale = match self.find(&key, headers, &policy, arrived) {
            Some((entry, CacheVerdict::Fresh)) => {
                self.counts.hits.add();
                let reply = self.reply(&entry, headers, policy, HIT);
                return PartStep::found(reply);
            }
            Some((entry, CacheVerdict::StaleWhileRevalidate)) => {
                self.counts.hits.add();
                self.counts.stale.add();
                let reply = self.reply(&entry, headers, policy, STALE);
                self.refresh(request.take_call(), key, policy, &entry);
                return PartStep::found(reply);
            }
            Some((entry, CacheVerdict::Stale)) => Some(entry),
            None => None,
        };
        if policy.wishes.only_if_cached {
            let mut response = Response::new(ReplyBody::empty());
            *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
            cached_reply::say(response.headers_mut(), NOT_CACHED);
            let reply = self.dispatch.own_reply(response);
            return PartStep::found(reply);
        }
        let asked = Asked {
            call: request.take_call(),
            key,
            policy,
            arrived,
        };
        PartStep::Answer(RequestAnswer::Later(self.go(asked, stale)))
    }

    /// Passes a request to the application, or makes it wait for a similar request that the application already has.
    fn go(
        self: &Rc<Self>,
        asked: Asked,
        stale: Option<Rc<StoredResponse>>,
    ) -> Later<Result<Reply, Refusal>> {
        if !self.may_share(&asked, stale.as_ref()) {
            return self.forward(asked, stale, None);
        }
        match self.flights.join(self.shared_key(&asked)) {
            Joined::Leads(lead) => self.forward(asked, stale, Some(lead)),
            Joined::Waits(flight) => {
                let cache = Rc::clone(self);
                Box::pin(async move { cache.wait(asked, flight).await })
            }
        }
    }

    /// Waits for the response to another request. If that does not answer this request, this
    /// request goes to the application, and waits for no other.
    async fn wait(self: Rc<Self>, asked: Asked, flight: Rc<Flight>) -> Result<Reply, Refusal> {
        let until = tokio::time::Instant::from_std(clock::now() + WAIT_LIMIT);
        let landed = timeout_at(until, flight.landed()).await;
        let headers = &asked.call.parts.headers;
        let found = self.find(&asked.key, headers, &asked.policy, asked.arrived);
        let stale = match found {
            Some((entry, CacheVerdict::Fresh | CacheVerdict::StaleWhileRevalidate)) => {
                self.counts.hits.add();
                self.counts.collapsed.add();
                return Ok(self.reply(&entry, headers, asked.policy, COLLAPSED));
            }
            found => found.map(|(entry, _)| entry),
        };
        // The other request ended without a response, as when its client left: one of those that
        // wait takes its place.
        let is_orphaned = landed == Ok(false);
        let next = if is_orphaned {
            self.go(asked, stale)
        } else {
            self.forward(asked, stale, None)
        };
        next.await
    }

    /// Whether a request may wait for another one, or others for it. False if each response must be confirmed, or if a
    /// recent response for this URL could not be stored.
    fn may_share(&self, asked: &Asked, stale: Option<&Rc<StoredResponse>>) -> bool {
        let policy = &asked.policy;
        let is_confirmable = stale.is_some() && !policy.is_head && !policy.is_authorized;
        (policy.is_shareable || (is_confirmable && !policy.wishes.no_store))
            && !stale.is_some_and(|entry| entry.freshness.is_confirmed_always())
            && !self.store.borrow().passes(&asked.key, clock::now())
    }

    pub(super) fn shared_key(&self, asked: &Asked) -> Vec<u8> {
        let headers = &asked.call.parts.headers;
        self.store.borrow().shared_key(&asked.key, headers)
    }

    fn find(
        &self,
        key: &RequestKey,
        headers: &HeaderMap,
        policy: &RequestPolicy,
        arrived: Instant,
    ) -> Found {
        let entry = self.store.borrow().find(key, headers)?;
        let verdict = (entry.freshness).verdict(&policy.wishes, arrived, clock::now());
        Some((entry, verdict))
    }

    pub(super) fn reply(
        self: &Rc<Self>,
        entry: &Rc<StoredResponse>,
        headers: &HeaderMap,
        policy: RequestPolicy,
        how: &'static str,
    ) -> Reply {
        let now = clock::now();
        let response = cached_reply::response(self, entry, headers, policy.is_head, how, now);
        self.dispatch.own_reply(response)
    }
}
