use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::supervise::executor::Executor;
use crate::supervise::processes::Host;
use carat_dispatch::{RequestFigures, RunningRequest};
use carat_exchange::clock;
use carat_log::{Log, WorkerId};
use carat_supervisor::StackReport;

/// How long a worker has to report the stack of a request. A worker whose threads keep Ruby's lock does not reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// The most slow requests per second whose stacks are logged.
const SLOW_LIMIT: u32 = 10;
/// The most requests in a report; the oldest are chosen.
const REQUEST_LIMIT: usize = 256;
/// The longest stack of a request in a report, in bytes: the command reads reports of up to 8 MiB.
const STACK_LIMIT: usize = 16 * 1024;
/// The longest target of a request in a report, in bytes.
const TARGET_LIMIT: usize = 1024;
/// The most requests in a list; the oldest are chosen.
const LISTED_LIMIT: usize = 50;
/// The longest path of a request in a list, in bytes.
const PATH_LIMIT: usize = 256;
/// The text in place of a reply that did not come.
const NO_REPLY: &str = "unknown: the worker does not reply, so its threads may keep Ruby's lock";

/// Asks workers for the stacks of requests: of slow requests for the log, and of all requests for a client that asks.
#[derive(Default)]
pub(crate) struct Stacks {
    /// The questions that workers have not answered: at most one for each request that they have begun.
    open: Vec<StackQuestion>,
    report: Option<StackQuery>,
    /// The beginning of the second for which `slow` counts.
    second: Option<Instant>,
    slow: u32,
    /// How many slow requests were not logged.
    omitted: u64,
}

struct StackQuestion {
    request: RunningRequest,
    asked: Instant,
    /// Whether the log waits for the answer.
    is_slow: bool,
}

struct StackQuery {
    askers: Vec<oneshot::Sender<Value>>,
    asked: Instant,
    rows: Vec<ReportedRequest>,
    omitted: usize,
}

struct ReportedRequest {
    request: RunningRequest,
    answer: Option<StackReport>,
}

impl Stacks {
    /// Asks for the stack of a slow request. It is logged when the worker has answered, or when it is clear that it
    /// cannot.
    pub(crate) fn ask_slow(&mut self, request: RunningRequest, executor: &Executor<impl Host>) {
        self.second.get_or_insert_with(clock::now);
        if self.slow == SLOW_LIMIT {
            self.omitted += 1;
            return;
        }
        self.slow += 1;
        self.put(request, true, executor);
    }

    /// Asks for the stacks of all requests, the oldest first, for a client.
    pub(crate) fn ask(
        &mut self,
        asker: oneshot::Sender<Value>,
        figures: RequestFigures<'_>,
        executor: &Executor<impl Host>,
    ) {
        if let Some(report) = &mut self.report {
            report.askers.push(asker);
            return;
        }
        let (running, omitted) = figures.running_requests(clock::now(), REQUEST_LIMIT);
        for request in &running {
            self.put(request.clone(), false, executor);
        }
        let row = |request| ReportedRequest {
            request,
            answer: None,
        };
        self.report = Some(StackQuery {
            askers: vec![asker],
            asked: clock::now(),
            rows: running.into_iter().map(row).collect(),
            omitted,
        });
        self.report_if_complete();
    }

    /// Asks a worker, unless the same question is open already. Otherwise, questions to a worker that never answers
    /// would pile up.
    fn put(&mut self, request: RunningRequest, is_slow: bool, executor: &Executor<impl Host>) {
        let mut open = self.open.iter_mut();
        let same = open.find(|it| it.request.key() == request.key());
        let asked = clock::now();
        if let Some(question) = same {
            if is_slow {
                (question.is_slow, question.asked) = (true, asked);
            }
            return;
        }
        executor.ask_stack(request.tag, request.id);
        self.open.push(StackQuestion {
            request,
            asked,
            is_slow,
        });
    }

    /// Takes the answer of a worker. Returns it if the question was not asked here.
    pub(crate) fn receive(&mut self, answer: StackReport, log: &Log) -> Option<StackReport> {
        let key = (answer.tag, answer.request);
        let mut open = self.open.iter();
        let Some(index) = open.position(|question| question.request.key() == key) else {
            return Some(answer);
        };
        let question = self.open.swap_remove(index);
        if question.is_slow {
            write(&question.request, &answer.waits_for, &answer.stack, log);
        }
        if let Some(report) = &mut self.report {
            let mut rows = report.rows.iter_mut();
            if let Some(row) = rows.find(|row| row.request.key() == key) {
                row.answer = Some(answer);
            }
            self.report_if_complete();
        }
        None
    }

    /// Ends the questions to a worker that has ended or become the mold.
    pub(crate) fn gone(&mut self, worker: WorkerId, log: &Log) {
        let is_of = |question: &StackQuestion| question.request.tag.worker == worker;
        let (gone, open) = std::mem::take(&mut self.open).into_iter().partition(is_of);
        self.open = open;
        let gone: Vec<StackQuestion> = gone;
        for question in gone.iter().filter(|question| question.is_slow) {
            write(&question.request, "unknown: the worker has ended", "", log);
        }
        self.report_if_complete();
    }

    /// Gives up the questions that have not been answered in time.
    pub(crate) fn tick(&mut self, log: &Log) {
        let now = clock::now();
        let is_over = |since| now.saturating_duration_since(since) >= Duration::from_secs(1);
        if self.second.take_if(|since| is_over(*since)).is_some() {
            self.slow = 0;
            let omitted = std::mem::take(&mut self.omitted);
            if omitted > 0 {
                log.warn("more slow requests", &[("requests", &omitted)]);
            }
        }
        let is_late = |asked: Instant| now.saturating_duration_since(asked) > REPLY_TIMEOUT;
        for question in &mut self.open {
            if question.is_slow && is_late(question.asked) {
                question.is_slow = false;
                write(&question.request, NO_REPLY, "", log);
            }
        }
        if self
            .report
            .as_ref()
            .is_some_and(|report| is_late(report.asked))
        {
            self.send_report();
        }
    }

    fn report_if_complete(&mut self) {
        let is_open = |row: &ReportedRequest| {
            let mut open = self.open.iter();
            row.answer.is_none() && open.any(|it| it.request.key() == row.request.key())
        };
        if self
            .report
            .as_ref()
            .is_some_and(|report| !report.rows.iter().any(is_open))
        {
            self.send_report();
        }
    }

    fn send_report(&mut self) {
        let Some(report) = self.report.take() else {
            return;
        };
        let rows: Vec<_> = report.rows.iter().map(ReportedRequest::json).collect();
        let json = json!({ "requests": rows, "omitted": report.omitted });
        for asker in report.askers {
            // The client may be gone.
            let _ = asker.send(json.clone());
        }
    }
}

impl ReportedRequest {
    fn json(&self) -> Value {
        let answer = self.answer.as_ref();
        let mut json = listed(&self.request, cut(&self.request.text, TARGET_LIMIT));
        json["waits_for"] = answer.map_or(NO_REPLY, |it| &it.waits_for).into();
        json["stack"] = answer.map_or("", |it| cut(&it.stack, STACK_LIMIT)).into();
        json
    }
}

/// The running requests, the oldest first, and how many more there are. No worker is asked. The query of a target is
/// left out, because a user who may see the list need not see what the query contains, such as tokens.
pub(crate) fn listed_requests(figures: RequestFigures<'_>) -> (Value, Value) {
    let (running, omitted) = figures.running_requests(clock::now(), LISTED_LIMIT);
    let row = |request: &RunningRequest| {
        let (path, _) = request.text.split_once('?').unwrap_or((&request.text, ""));
        listed(request, cut(path, PATH_LIMIT))
    };
    let rows: Vec<_> = running.iter().map(row).collect();
    (Value::Array(rows), omitted.into())
}

fn listed(request: &RunningRequest, text: &str) -> Value {
    json!({
        "worker": request.tag.worker.number,
        "lane": request.tag.lane,
        "id": request.id,
        "request": text,
        "stage": request.stage,
        "age": request.age.as_secs_f64(),
    })
}

fn write(request: &RunningRequest, waits_for: &str, stack: &str, log: &Log) {
    let age = format!("{:.3}", request.age.as_secs_f64());
    log.warn(
        "slow request",
        &[
            ("lane", &request.tag),
            ("request", &request.text),
            ("running_for", &age),
            ("waits_for", &waits_for),
            ("stack", &stack),
        ],
    );
}

/// The beginning of a text, up to `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
