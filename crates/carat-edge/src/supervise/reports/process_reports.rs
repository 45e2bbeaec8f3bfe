use std::mem::take;

use serde_json::{Value, json};

use super::profiles::Profiles;
use super::ruby_figures::RubyFigures;
use super::stacks::Stacks;
use super::stats_collector::StatsCollector;
use crate::supervise::executor::Executor;
use crate::supervise::messages::{Mailbox, StatsMessage};
use crate::supervise::processes::Host;
use carat_log::Log;
use carat_supervisor::{MemoryReading, ProcessMemory, RubyProcess, State};

/// The open questions to the processes, and the answers that are kept.
pub(crate) struct ProcessReports {
    pub(crate) profiles: Profiles,
    pub(crate) stacks: Stacks,
    stats: StatsCollector,
    ruby: RubyFigures,
    /// The memory of the processes, when it was last read.
    memory: Vec<ProcessMemory>,
}

impl ProcessReports {
    pub(crate) fn new(mailbox: Mailbox, machine_memory: Option<u64>) -> ProcessReports {
        ProcessReports {
            profiles: Profiles::new(mailbox.clone()),
            stacks: Stacks::default(),
            stats: StatsCollector::new(mailbox, machine_memory),
            ruby: RubyFigures::default(),
            memory: Vec::new(),
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

    /// Keeps the memory of each process.
    pub(crate) fn keep_memory(&mut self, reading: &mut MemoryReading) {
        self.memory = take(&mut reading.processes);
    }

    /// Forgets the open questions to a process that does not answer any more: it has ended, or has another role now.
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

    /// Asks the Ruby processes for the figures of garbage collection and machine code.
    pub(crate) fn ask_ruby(&mut self, state: &State, executor: &Executor<impl Host>) {
        self.ruby.ask(&state.processes().running(), executor);
    }

    /// Adds to the status the last known memory of each process, and the figures of garbage collection and machine
    /// code. The latter are asked only while monitoring is on.
    pub(crate) fn add_to_status(&self, status: &mut Value) {
        status["memory"] = json!(self.memory);
        status["ruby"] = self.ruby.report().into();
    }
}
