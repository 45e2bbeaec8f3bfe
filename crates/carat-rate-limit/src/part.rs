use std::cell::Cell;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::{Duration, Instant};

use http::header::{CONNECTION, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::client_rates::{ClientRates, Rate};
use carat_exchange::{Call, Fault, PartRefusal, Refusal, ReplyBody, clock};
use carat_http::{
    ArrivedRequest, EdgeCore, Part, PartSample, ReadinessPaths, RequestAnswer, RequestContext,
    RequestStep,
};
use carat_log::{Field, Log};

/// The refusal of a request beyond the client's rate.
const TOO_MANY: Refusal = Refusal::ByPart(&PartRefusal {
    status: StatusCode::TOO_MANY_REQUESTS,
    reason: "too many requests come from this address",
    fault: Fault::Client,
    retry_after: None,
});

/// The time between two lines of the log about refused requests.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The limit of requests for each client address: the option `rate_limit`.
struct RateLimitPart {
    rates: ClientRates,
    /// The paths for which load balancers ask, often and from one address.
    exempt: ReadinessPaths,
    refused: Cell<u64>,
    /// The client that was refused last.
    latest: Cell<Option<IpAddr>>,
    last_line: Cell<Option<RefusalLine>>,
    log: Rc<Log>,
}

/// A line of the log about refused requests.
#[derive(Clone, Copy)]
struct RefusalLine {
    /// The requests that had been refused by then.
    refused: u64,
    at: Instant,
}

/// The advice to a refused client: in how many seconds to ask again, and whether on the same connection.
struct Return {
    seconds: u64,
    keeps_connection: bool,
}

/// The part; `None` without the option `rate_limit`.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    let limit = core.settings.parts.rate_limit.limit?;
    let (requests, period) = (limit.requests, limit.period);
    Some(Box::new(RateLimitPart {
        rates: ClientRates::new(Rate { requests, period }, clock::now()),
        exempt: ReadinessPaths::of(&core.settings),
        refused: Cell::default(),
        latest: Cell::default(),
        last_line: Cell::default(),
        log: Rc::clone(&core.log),
    }))
}

impl Part for RateLimitPart {
    fn name(&self) -> &'static str {
        "rate_limit"
    }

    fn admit(&self, request: &mut ArrivedRequest, context: &mut RequestContext) -> RequestStep {
        let Err(early) = self.take(request.call()) else {
            return ControlFlow::Continue(());
        };
        let has_body = request.has_body();
        context.slots.set(Return {
            seconds: early.as_secs() + u64::from(early.subsec_nanos() > 0),
            keeps_connection: !has_body,
        });
        context.refuse_if(has_body, TOO_MANY)?;
        ControlFlow::Break(RequestAnswer::Now(Err(TOO_MANY)))
    }

    /// Tells a refused client when to come back, and leaves its connection open if it can: a new
    /// connection would cost the edge more than the request.
    fn refused(
        &self,
        _: Refusal,
        response: &mut Response<ReplyBody>,
        context: &mut RequestContext,
    ) {
        let Some(way) = context.slots.take::<Return>() else {
            return;
        };
        let fields = response.headers_mut();
        fields.insert(RETRY_AFTER, HeaderValue::from(way.seconds));
        if way.keeps_connection {
            fields.remove(CONNECTION);
        }
    }

    fn tick(&self) {
        let Some(latest) = self.latest.get() else {
            return;
        };
        let (refused, at) = (self.refused.get(), clock::now());
        let last = self.last_line.get();
        let new = refused - last.map_or(0, |line| line.refused);
        if new == 0 || last.is_some_and(|line| at < line.at + LOG_INTERVAL) {
            return;
        }
        self.last_line.set(Some(RefusalLine { refused, at }));
        let latest = latest.to_string();
        let fields: [Field<'_>; 2] = [("refused", &new), ("latest", &latest)];
        self.log.warn("clients exceed rate_limit", &fields);
    }

    fn report(&self) -> Value {
        let clients = self.rates.clients(clock::now());
        json!({ "clients": clients, "refused": self.refused.get() })
    }

    fn samples(&self) -> Vec<PartSample> {
        let clients = self.rates.clients(clock::now()) as u64;
        let help = "Client addresses whose latest requests count";
        let clients = PartSample::gauge("rate_limit_clients", help, clients);
        let help = "Requests beyond rate_limit";
        let refused = PartSample::counter("rate_limit_refused", help, self.refused.get());
        vec![clients, refused]
    }
}

impl RateLimitPart {
    /// Counts a request by the address of its client, as `trusted_proxies` says. A client without an address, on a
    /// Unix socket, has no limit.
    fn take(&self, call: &Call) -> Result<(), Duration> {
        let Ok(client) = call.logged().parse() else {
            return Ok(());
        };
        if self.exempt.contains(call.parts.uri.path()) {
            return Ok(());
        }
        self.rates.take(client, clock::now()).inspect_err(|_| {
            self.refused.set(self.refused.get() + 1);
            self.latest.set(Some(client));
        })
    }
}
