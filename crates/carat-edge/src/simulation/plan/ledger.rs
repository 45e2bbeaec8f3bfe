use std::collections::BTreeSet;

use crate::simulation::plan::script::{RequestScript, ScriptedResponse};
use carat_exchange::Refusal;

/// All requests of a run: what each one asks for, and what happened to it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: Vec<LedgerEntry>,
    /// The requests without an answer whose clients wait.
    waiting: BTreeSet<usize>,
    /// Sentences about events that must not have happened.
    violations: Vec<String>,
}

/// A request in the ledger.
#[derive(Debug)]
pub(crate) struct LedgerEntry {
    pub(crate) script: RequestScript,
    sent_at: u64,
    /// How often a worker's page said that the request has begun.
    begun: u32,
    /// The workers that ran the request.
    runs: Vec<u32>,
    /// Whether the client left while its request was in the queue.
    left_queue: bool,
    answer: Option<Answer>,
    /// Bytes of a streamed body that the application has sent.
    streamed: usize,
    /// Bytes of a streamed body that the client has taken.
    taken: usize,
}

/// How a request ended for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Reply,
    Refused(Refusal),
    Left,
    /// The process of the edge exited.
    Reset,
}

/// The timeouts of the server, by which the ledger judges an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LedgerTimeouts {
    pub(crate) request: u64,
    pub(crate) queue: u64,
}

impl Ledger {
    /// A client sends a request; returns its number.
    pub(crate) fn send(&mut self, script: RequestScript, at: u64) -> usize {
        let number = self.entries.len();
        self.entries.push(LedgerEntry {
            script,
            sent_at: at,
            begun: 0,
            runs: Vec::new(),
            left_queue: false,
            answer: None,
            streamed: 0,
            taken: 0,
        });
        self.waiting.insert(number);
        number
    }

    pub(crate) fn script(&self, number: usize) -> &RequestScript {
        &self.entries[number].script
    }

    /// Notes that the page of a worker says that the request has begun.
    pub(crate) fn begin(&mut self, number: usize) {
        self.entries[number].begun += 1;
    }

    /// A worker runs the request.
    pub(crate) fn run(&mut self, number: usize, pid: u32) {
        self.entries[number].runs.push(pid);
        let entry = &self.entries[number];
        let never = match entry.answer {
            Some(Answer::Refused(Refusal::QueueFull | Refusal::Overloaded { .. })) => true,
            Some(Answer::Refused(Refusal::QueueTimeout | Refusal::Stopping)) => entry.is_unsafe(),
            Some(Answer::Left) => entry.left_queue,
            _ => false,
        };
        self.check(
            !never,
            number,
            "ran although it was refused, or its client had left the queue",
        );
        let entry = &self.entries[number];
        let limit = if entry.is_unsafe() { 1 } else { 2 };
        self.check(entry.runs.len() <= limit, number, "ran too often");
    }

    /// The application sent bytes of a streamed body.
    pub(crate) fn stream(&mut self, number: usize, bytes: usize) {
        let entry = &mut self.entries[number];
        entry.streamed += bytes;
        let held = entry.streamed - entry.taken;
        let window = carat_wire::stream::STREAM_WINDOW as usize;
        let is_alone = entry.runs.len() == 1;
        self.check(
            !is_alone || held <= window,
            number,
            "the edge holds more than a window of a stream",
        );
    }

    /// The client took bytes of a streamed body.
    pub(crate) fn take(&mut self, number: usize, bytes: usize) {
        self.entries[number].taken += bytes;
    }

    /// Notes the answer of a request, or that its client left. `spent` is how long it waited, without the pauses of the
    /// machine.
    pub(crate) fn answer(
        &mut self,
        number: usize,
        answer: Answer,
        spent: u64,
        timeouts: LedgerTimeouts,
    ) {
        let is_first = self.waiting.remove(&number);
        self.check(is_first, number, "was answered twice");
        self.entries[number].answer = Some(answer);
        if let Some(wrong) = self.entries[number].is_wrong(answer, spent, timeouts) {
            self.check(false, number, wrong);
        }
    }

    /// Notes that the client left while its request was in the queue: the request must not begin.
    pub(crate) fn leave_queue(&mut self, number: usize) {
        self.entries[number].left_queue = true;
    }

    /// The worker that ran the request last.
    pub(crate) fn last_run(&self, number: usize) -> Option<u32> {
        self.entries[number].runs.last().copied()
    }

    pub(crate) fn sent_at(&self, number: usize) -> u64 {
        self.entries[number].sent_at
    }

    /// The requests without an answer.
    pub(crate) fn waiting(&self) -> &BTreeSet<usize> {
        &self.waiting
    }

    /// How many requests were sent.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Records a violation unless `holds`.
    pub(crate) fn check(&mut self, holds: bool, number: usize, what: &str) {
        if !holds {
            let entry = &self.entries[number];
            self.violate(format!("request {number} {what}: {entry:?}"));
        }
    }

    /// Records a violation.
    pub(crate) fn violate(&mut self, what: String) {
        self.violations.push(what);
    }

    /// The first violation.
    pub(crate) fn violation(&self) -> Option<&String> {
        self.violations.first()
    }
}

impl LedgerEntry {
    /// Whether the request must not run twice.
    fn is_unsafe(&self) -> bool {
        matches!(self.script.method, "POST" | "PUT")
    }

    /// What is wrong with an answer, if something is.
    fn is_wrong(
        &self,
        answer: Answer,
        spent: u64,
        timeouts: LedgerTimeouts,
    ) -> Option<&'static str> {
        let (has_begun, has_run) = (self.begun > 0, !self.runs.is_empty());
        let refusal = match answer {
            Answer::Reply if self.runs.is_empty() => return Some("has a reply and never ran"),
            Answer::Reply if self.script.response == ScriptedResponse::Invalid => {
                return Some("has a reply that is not valid");
            }
            Answer::Reply | Answer::Left | Answer::Reset => return None,
            Answer::Refused(refusal) => refusal,
        };
        match refusal {
            Refusal::QueueFull | Refusal::Overloaded { .. } if has_run => {
                Some("was refused by the queue and had run")
            }
            Refusal::Stopping | Refusal::QueueTimeout if has_run && self.is_unsafe() => {
                Some("was told that it had not run")
            }
            Refusal::QueueTimeout if spent < timeouts.queue => Some("left the queue too early"),
            Refusal::AppTimeout if spent < timeouts.request => Some("timed out too early"),
            Refusal::AppTimeout if !has_begun => Some("timed out and had not begun"),
            Refusal::WorkerLost if !has_begun => Some("was lost and had not begun"),
            Refusal::WorkerLost if self.begun < 2 && !self.is_unsafe() => {
                Some("may be repeated and was not")
            }
            Refusal::CutOff if !has_begun => Some("was cut off and had not begun"),
            Refusal::InvalidResponse if self.script.response != ScriptedResponse::Invalid => {
                Some("has a valid response that was refused")
            }
            Refusal::QueueFull
            | Refusal::Overloaded { .. }
            | Refusal::QueueTimeout
            | Refusal::Stopping
            | Refusal::AppTimeout
            | Refusal::WorkerLost
            | Refusal::CutOff
            | Refusal::InvalidResponse => None,
            _ => Some("was refused for a reason that nothing gave"),
        }
    }
}
