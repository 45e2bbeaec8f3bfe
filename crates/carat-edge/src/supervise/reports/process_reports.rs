use std::mem::take;

use serde_json::{Value, json};

use super::history::{Gauges, History};
use super::profiles::Profiles;
use super::ruby_figures::RubyFigures;
use super::stacks::Stacks;
use super::stats_collector::StatsCollector;
use crate::supervise::executor::Executor;
use crate::supervise::messages::{Mailbox, StatsMessage};
use crate::supervise::processes::Host;
use carat_exchange::clock;
use carat_http::{RequestTotals, Server};
use carat_log::Log;
use carat_supervisor::{MemoryReading, ProcessMemory, RubyProcess, State};

/// The questions to the processes that are open, and the answers that are kept.
pub(crate) struct ProcessReports {
    pub(crate) profiles: Profiles,
    pub(crate) stacks: Stacks,
    stats: StatsCollector,
    ruby: RubyFigures,
    /// The memory of the processes, when it was last read.
    memory: Vec<ProcessMemory>,
    /// The server's last ten minutes; `None` where requests are not counted.
    history: Option<History>,
}

impl ProcessReports {
    pub(crate) fn new(
        mailbox: Mailbox,
        has_history: bool,
        machine_memory: Option<u64>,
    ) -> ProcessReports {
        ProcessReports {
            profiles: Profiles::new(mailbox.clone()),
            stacks: Stacks::default(),
            stats: StatsCollector::new(mailbox, machine_memory),
            ruby: RubyFigures::default(),
            memory: Vec::new(),
            history: has_history.then(|| History::new(clock::now())),
        }
    }

    /// Handles a question about the processes, or an answer.
    pub(crate) fn collect(
        &mut self,
        message: StatsMessage,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        self.ruby.receive(&message);
        self.stats.handle(message, state, executor);
    }

    /// Keeps what was read of each process.
    pub(crate) fn keep_memory(&mut self, reading: &mut MemoryReading) {
        self.memory = take(&mut reading.processes);
    }

    /// Forgets the questions to a process that answers nobody any more: it has ended, or is another one now.
    pub(crate) fn gone(
        &mut self,
        process: RubyProcess,
        what: &str,
        log: &Log,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        if let RubyProcess::Worker(worker) = process {
            self.profiles.gone(worker, what);
            self.stacks.gone(worker, log);
        }
        self.stats.receive(process, None, state, executor);
    }

    /// Adds a sample to the history when one is due. `totals` counts the requests so far.
    pub(crate) fn sample(
        &mut self,
        totals: impl FnOnce() -> RequestTotals,
        server: &Server,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        let now = clock::now();
        let due = self.history.as_mut().filter(|it| it.is_due(now));
        let Some(history) = due else {
            return;
        };
        self.ruby.ask(&state.processes().running(), executor);
        let gauges = Gauges::of(server, &self.memory);
        history.add(totals(), gauges, server.started, now);
    }

    /// Adds the memory of each process when it was last read to the status, and what garbage collection and machine code
    /// take, which is asked only for the history.
    pub(crate) fn add_to_status(&self, status: &mut Value) {
        status["memory"] = json!(self.memory);
        status["ruby"] = self.ruby.report().into();
    }

    /// Adds the last minute to the overview, and the last ten minutes if the client wants to plot them.
    pub(crate) fn add_history(&self, overview: &mut Value, has_plots: bool) {
        if let Some(history) = &self.history {
            overview["recent"] = history.recent();
            if has_plots {
                overview["plots"] = history.plots();
            }
        }
    }
}
