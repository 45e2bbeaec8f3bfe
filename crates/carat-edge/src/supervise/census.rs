//! Who runs, and what each process says of itself.

use std::time::Duration;

use carat_wire::Kind;
use carat_wire::control::encode_signal;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::spawn_local;

use super::event::{Event, Who};
use super::memory::Container;
use super::roster::{Boot, Worker};
use super::supervisor::Supervisor;

/// How long a process has to tell its figures. One whose threads do not let go of Ruby's lock tells none.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Edge,
    Mold,
    Worker,
}

/// A process, and what it says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) role: Role,
    /// A worker's number.
    pub(crate) number: Option<u32>,
    /// `None` for the edge.
    pub(crate) generation: Option<u32>,
    pub(crate) pid: u32,
    /// How many requests a worker was given.
    pub(crate) requests: Option<u64>,
    /// A JSON object; `None` when it did not answer in time.
    pub(crate) figures: Option<String>,
}

/// What all processes may have together, as it was when they were weighed last.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    pub(crate) limit: u64,
    pub(crate) used: u64,
    pub(crate) container: Container,
    /// The machine's memory.
    pub(crate) machine: Option<u64>,
}

/// The answer to somebody who asks.
#[derive(Debug, Clone)]
pub(crate) struct Survey {
    pub(crate) processes: Vec<Process>,
    /// `None` before all were weighed once.
    pub(crate) allowance: Option<Allowance>,
}

/// A question to all processes, shared by all who ask while it is open.
#[derive(Debug, Default)]
pub(super) struct Census {
    number: u64,
    askers: Vec<oneshot::Sender<Survey>>,
    answers: Vec<(Who, String)>,
    /// Who was asked, now or before, and has not answered. Nobody is asked twice: the answer to the first question
    /// is as good, and questions to a process that never answers would pile up.
    silent: Vec<Who>,
}

impl Census {
    /// Adds somebody who asks; the number of the question that has to be put to the processes, if none is open.
    fn join(&mut self, asker: oneshot::Sender<Survey>) -> Option<u64> {
        self.askers.push(asker);
        if self.askers.len() > 1 {
            return None;
        }
        self.number += 1;
        Some(self.number)
    }

    /// Expects an answer; whether the process has to be asked for it.
    fn expect(&mut self, who: Who) -> bool {
        let is_new = !self.silent.contains(&who);
        if is_new {
            self.silent.push(who);
        }
        is_new
    }

    /// The process has answered, or is gone.
    fn heard(&mut self, who: Who, figures: Option<String>) {
        self.silent.retain(|known| *known != who);
        if let Some(figures) = figures.filter(|_| !self.askers.is_empty()) {
            self.answers.push((who, figures));
        }
    }

    /// Whether all have answered.
    fn is_complete(&self) -> bool {
        self.silent.is_empty()
    }

    /// Whether this question is still open.
    fn is_open(&self, number: u64) -> bool {
        self.number == number && !self.askers.is_empty()
    }

    fn answer_of(&mut self, who: Who) -> Option<String> {
        let place = self.answers.iter().position(|(known, _)| *known == who)?;
        Some(self.answers.swap_remove(place).1)
    }

    /// Closes the question: who has asked.
    fn close(&mut self) -> Vec<oneshot::Sender<Survey>> {
        self.answers.clear();
        std::mem::take(&mut self.askers)
    }
}

/// Counting the processes.
impl Supervisor {
    /// Asks all processes for their figures.
    pub(super) fn take_census(&mut self, asker: oneshot::Sender<Survey>) {
        let Some(number) = self.census.join(asker) else {
            return;
        };
        let mold = self.mold.iter().filter(|mold| mold.is_ready);
        let molds = mold.map(|mold| (Who::Mold(mold.generation), &mold.channel));
        let workers = self.roster.iter().filter(|worker| listens(worker));
        let workers = workers.map(|worker| (Who::Worker(worker.id), &worker.channel));
        for (who, channel) in molds.chain(workers) {
            if self.census.expect(who) {
                channel.send(Vec::new(), |out| encode_signal(out, Kind::AskFigures));
            }
        }
        let events = self.events.clone();
        spawn_local(async move {
            tokio::time::sleep(PATIENCE).await;
            events.send(Event::CensusDue(number));
        });
        self.close_full_census();
    }

    /// A process has told its figures, or is gone.
    pub(super) fn figures_heard(&mut self, who: Who, figures: Option<String>) {
        self.census.heard(who, figures);
        self.close_full_census();
    }

    /// Those who have not answered by now are not waited for.
    pub(super) fn census_due(&mut self, number: u64) {
        if self.census.is_open(number) {
            self.close_census();
        }
    }

    fn close_full_census(&mut self) {
        if self.census.is_complete() {
            self.close_census();
        }
    }

    fn close_census(&mut self) {
        let survey = Survey {
            processes: self.processes(),
            allowance: self.allowance(),
        };
        for asker in self.census.close() {
            // Whoever has asked may be gone.
            let _ = asker.send(survey.clone());
        }
    }

    fn allowance(&self) -> Option<Allowance> {
        let all = self.scales.all?;
        Some(Allowance {
            limit: all.budget.limit,
            used: all.used.bytes,
            container: self.scales.container.clone(),
            machine: self.scales.machine.memory,
        })
    }

    /// The processes that there are now.
    fn processes(&mut self) -> Vec<Process> {
        let mut processes = Vec::new();
        for mold in self.mold.iter().chain(self.promotion.molds()) {
            processes.push(Process {
                role: Role::Mold,
                number: None,
                generation: Some(mold.generation),
                pid: mold.pid,
                requests: None,
                figures: self.census.answer_of(Who::Mold(mold.generation)),
            });
        }
        for worker in self.roster.iter() {
            let Some(pid) = worker.pid else { continue };
            processes.push(Process {
                role: Role::Worker,
                number: Some(worker.id.number),
                generation: Some(worker.generation),
                pid,
                requests: Some(worker.begun()),
                figures: self.census.answer_of(Who::Worker(worker.id)),
            });
        }
        processes
    }
}

/// Whether the worker's main thread reads what the edge sends.
fn listens(worker: &Worker) -> bool {
    worker.boot == Boot::Done && !worker.stage.is_last()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOLD: Who = Who::Mold(1);

    fn asker() -> oneshot::Sender<Survey> {
        oneshot::channel().0
    }

    #[test]
    fn those_who_ask_at_once_share_one_question() {
        let mut census = Census::default();
        assert_eq!(census.join(asker()), Some(1));
        assert_eq!(census.join(asker()), None);
        assert!(census.expect(MOLD));
        census.heard(MOLD, Some("{}".to_owned()));
        assert!(census.is_complete());
        assert_eq!(census.answer_of(MOLD), Some("{}".to_owned()));
        assert_eq!(census.close().len(), 2);
        assert_eq!(census.join(asker()), Some(2));
        assert!(census.expect(MOLD));
    }

    #[test]
    fn a_process_that_does_not_answer_is_not_asked_again_before_it_has() {
        let mut census = Census::default();
        census.join(asker());
        census.expect(MOLD);
        assert!(census.is_open(1) && !census.is_complete());
        census.close();
        assert!(!census.is_open(1));

        census.join(asker());
        assert!(!census.expect(MOLD));
        census.heard(MOLD, Some("{}".to_owned()));
        assert!(census.is_complete());
    }

    #[test]
    fn a_process_that_dies_is_not_waited_for() {
        let mut census = Census::default();
        census.join(asker());
        census.expect(MOLD);
        census.heard(MOLD, None);
        assert!(census.is_complete());
        assert_eq!(census.answer_of(MOLD), None);
    }

    #[test]
    fn an_answer_that_nobody_waits_for_is_dropped() {
        let mut census = Census::default();
        census.heard(MOLD, Some("{}".to_owned()));
        assert_eq!(census.answer_of(MOLD), None);
        assert!(!census.is_open(0));
    }
}
