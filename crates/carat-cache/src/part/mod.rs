//! The cache as a part of the edge: the option `cache`.

mod cached_reply;
mod changes;
mod counts;
mod flights;
mod forward;
mod lookup;
mod response_cache;

use std::rc::Rc;

use serde_json::{Value, json};

use self::changes::ChangedUrl;
use self::response_cache::ResponseCache;
use carat_exchange::{Call, Refusal, Reply};
use carat_http::{
    ArrivedRequest, EdgeCore, Lends, Part, PartSample, PartStep, RequestContext, SlowReply,
};
use carat_settings::Settings;

/// The cache of public responses.
struct CachePart(Rc<ResponseCache>);

/// The part. `None` without the option `cache`, and when a change of the code replaces all workers
/// at once: then each request may meet new code.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    let settings = &core.settings;
    let limit = settings
        .parts
        .cache
        .limit
        .filter(|_| !settings.parts.replace_at_once())?;
    let cache = ResponseCache::new(limit, &core.dispatch);
    Some(Box::new(CachePart(cache)))
}

impl Part for CachePart {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn begin(&self, call: &mut Call, context: &mut RequestContext) {
        if let Some(changed) = ChangedUrl::by(call) {
            context.slots.set(changed);
        }
    }

    fn answer(&self, request: &mut ArrivedRequest, _: &mut RequestContext) -> PartStep {
        self.0.look(request)
    }

    fn reply<'a>(
        &'a self,
        reply: &'a mut Result<Reply, Refusal>,
        context: &'a mut RequestContext,
    ) -> Option<SlowReply<'a>> {
        if let Some(changed) = context.slots.take() {
            self.0.note_change(changed, reply);
        }
        None
    }

    fn adopt(&self, _: &Settings, generation: u32) {
        self.0.adopt(generation);
    }

    fn memory(&self) -> Option<&dyn Lends> {
        Some(self)
    }

    fn report(&self) -> Value {
        let (store, counts) = (self.0.store.borrow(), &self.0.counts);
        json!({
            "limit": store.limit(),
            "used": store.used(),
            "entries": store.entries(),
            "hits": counts.hits.get(),
            "stale": counts.stale.get(),
            "collapsed": counts.collapsed.get(),
            "misses": counts.misses.get(),
            "revalidated": counts.revalidated.get(),
            "evictions": store.evictions(),
        })
    }

    fn samples(&self) -> Vec<PartSample> {
        let (store, counts) = (self.0.store.borrow(), &self.0.counts);
        let count = PartSample::counter;
        let help = "Requests answered with a response that was not fresh";
        let stale = count("cache_stale", help, counts.stale.get());
        let help = "Requests answered with the response to another request";
        let collapsed = count("cache_collapsed", help, counts.collapsed.get());
        let help = "Requests that the cache answered";
        let hits = count("cache_hits", help, counts.hits.get());
        let help = "Requests that the cache passed to the application";
        let misses = count("cache_misses", help, counts.misses.get());
        let help = "Requests after which the application confirmed the stored response";
        let revalidations = count("cache_revalidations", help, counts.revalidated.get());
        let help = "Stored responses evicted to make room for others";
        let evictions = count("cache_evictions", help, store.evictions());
        vec![
            PartSample::bytes("cache_limit", "The option cache", self.limit()),
            PartSample::bytes("cache_used", "Stored responses", self.held()),
            PartSample::gauge("cache_entries", "Stored responses", store.entries() as u64),
            hits,
            stale,
            collapsed,
            misses,
            revalidations,
            evictions,
        ]
    }
}

impl Lends for CachePart {
    fn limit(&self) -> u64 {
        self.0.store.borrow().limit() as u64
    }

    fn held(&self) -> u64 {
        self.0.store.borrow().used() as u64
    }

    fn give_way(&self, gives_way: bool) {
        self.0.give_way(gives_way);
    }
}
