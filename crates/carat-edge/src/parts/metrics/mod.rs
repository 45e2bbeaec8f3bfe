//! The pages for monitoring systems as a part of the edge: metrics, a dashboard, and whether the server is up. No page
//! runs Ruby.

mod dashboard;
mod exposition;
mod gauges;
mod health;
mod history;
mod listener;
mod request_metrics;
mod scraped;
mod time_counts;
mod utilization;

use std::cell::{OnceCell, RefCell};
use std::io;
use std::rc::{Rc, Weak};

use serde_json::{Value, json};
use tokio::time::sleep_until;

use self::history::{Gauges, History};
use self::listener::{MetricsAddress, MetricsPages, ask};
use self::request_metrics::RequestMetrics;
use self::utilization::{LoadSample, RecentLoad};
use super::surroundings::Surroundings;
use crate::supervise::{ControlRequest, Mailbox};
use carat_exchange::clock;
use carat_http::{EdgeCore, EdgeEvent, OtherParts, Part, PartTask, RequestObserver};
use carat_settings::Settings;

/// The counts of requests and of other events, and the addresses at which they can be read.
struct MetricsPart {
    addresses: Vec<Rc<MetricsAddress>>,
    requests: Rc<RequestMetrics>,
    history: Rc<RefCell<History>>,
    load: Rc<RefCell<RecentLoad>>,
    mailbox: Mailbox,
    core: EdgeCore,
    others: OnceCell<Weak<dyn OtherParts>>,
}

/// The part; `None` without an address.
pub(super) fn part(core: &EdgeCore, edge: &Surroundings<'_>) -> Option<Box<dyn Part>> {
    let addresses = &core.settings.parts.metrics.addresses;
    if addresses.is_empty() {
        return None;
    }
    let addresses = addresses.iter();
    let addresses = addresses.map(|it| Rc::new(MetricsAddress::new(it, edge.inherited)));
    Some(Box::new(MetricsPart {
        addresses: addresses.collect(),
        requests: Rc::new(RequestMetrics::new(&core.settings.pool)),
        history: Rc::new(RefCell::new(History::new(clock::now()))),
        load: Rc::new(RefCell::new(RecentLoad::new(core.settings.slots()))),
        mailbox: edge.mailbox.clone(),
        core: core.clone(),
        others: OnceCell::new(),
    }))
}

impl Part for MetricsPart {
    fn name(&self) -> &'static str {
        "metrics"
    }

    fn sees_requests(&self) -> bool {
        false
    }

    fn observer(&self) -> Option<Rc<dyn RequestObserver>> {
        let requests = Rc::clone(&self.requests);
        Some(requests)
    }

    fn note(&self, event: &EdgeEvent) {
        self.requests.note(event);
    }

    fn meet(&self, others: &Weak<dyn OtherParts>) {
        self.others.get_or_init(|| Weak::clone(others));
    }

    fn tasks(&self) -> Vec<PartTask> {
        let Some(parts) = self.others.get().and_then(Weak::upgrade) else {
            return Vec::new();
        };
        let pages = Rc::new(MetricsPages {
            core: self.core.clone(),
            parts,
            mailbox: self.mailbox.clone(),
            requests: Rc::clone(&self.requests),
            history: Rc::clone(&self.history),
            load: Rc::clone(&self.load),
        });
        let samples = PartTask {
            name: "samples",
            work: Box::pin(sample(Rc::clone(&pages))),
        };
        let addresses = self.addresses.iter().cloned().map(|address| {
            let pages = Rc::clone(&pages);
            PartTask {
                name: "metrics",
                work: Box::pin(async move { address.serve(pages).await }),
            }
        });
        addresses.chain([samples]).collect()
    }

    fn tick(&self) {
        let sample = LoadSample::of(self.core.dispatch.dispatcher.figures());
        self.load.borrow_mut().add(sample);
    }

    fn adopt(&self, settings: &Settings, _: u32) {
        self.load.borrow_mut().adopt(settings.slots());
    }

    fn report(&self) -> Value {
        json!({ "recent": self.history.borrow().recent() })
    }
}

/// Adds samples to the history until the server ends. The history begins once clients are accepted:
/// a sample that covers the time in which the application was loaded would make the rates of the
/// first minute too low.
async fn sample(pages: Rc<MetricsPages>) -> io::Result<()> {
    let MetricsPages { history, .. } = &*pages;
    history.replace(History::new(clock::now()));
    loop {
        let due = history.borrow().due();
        sleep_until(due.into()).await;
        let Some(status) = ask(&pages.mailbox, ControlRequest::Status { asks_ruby: true }).await
        else {
            return Ok(());
        };
        let (totals, gauges) = (pages.requests.totals(), Gauges::of(&status));
        let (started, now) = (pages.core.life.started, clock::now());
        history.borrow_mut().add(totals, gauges, started, now);
    }
}
