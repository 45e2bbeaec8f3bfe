use std::time::Duration;

use carat_wire::Kind;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::supervise::executor::Executor;
use crate::supervise::messages::{
    Mailbox, MemoryAllowance, Message, ProcessStats, StatsMessage, StatsReport,
};
use crate::supervise::processes::Host;
use crate::supervise::reports::stats_query::StatsQuery;
use carat_supervisor::{RubyProcess, RunningProcess, State};

/// How long a process has to reply with its stats. A process whose threads keep Ruby's lock does not reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);

/// Collects the stats of all processes for clients that ask.
pub(crate) struct StatsCollector {
    mailbox: Mailbox,
    query: StatsQuery,
    /// The task that ends the query.
    timeout: JoinSet<()>,
    /// The machine's memory.
    machine: Option<u64>,
}

impl StatsCollector {
    pub(crate) fn new(mailbox: Mailbox, machine: Option<u64>) -> StatsCollector {
        StatsCollector {
            mailbox,
            query: StatsQuery::default(),
            timeout: JoinSet::new(),
            machine,
        }
    }

    pub(crate) fn handle(
        &mut self,
        message: StatsMessage,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        match message {
            StatsMessage::Ask(asker) => self.ask(asker, state, executor),
            StatsMessage::Reply { process, json } => {
                self.receive(process, Some(json), state, executor);
            }
            StatsMessage::Timeout(number) if self.query.is_open(number) => {
                self.report(state, executor);
            }
            StatsMessage::Timeout(_) => {}
        }
    }

    /// Notes that a process replied, or is gone.
    pub(crate) fn receive(
        &mut self,
        process: RubyProcess,
        json: Option<String>,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        self.query.receive(process, json);
        self.report_if_complete(state, executor);
    }

    fn ask(
        &mut self,
        asker: oneshot::Sender<StatsReport>,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        let Some(number) = self.query.join(asker) else {
            return;
        };
        for running in state.processes().running() {
            if running.listens && self.query.expect(running.process) {
                executor.send_signal(running.process, Kind::AskStats);
            }
        }
        let mailbox = self.mailbox.clone();
        self.timeout = JoinSet::new();
        self.timeout.spawn_local(async move {
            sleep(REPLY_TIMEOUT).await;
            mailbox.send(Message::Stats(StatsMessage::Timeout(number)));
        });
        self.report_if_complete(state, executor);
    }

    fn report_if_complete(&mut self, state: &State, executor: &Executor<impl Host>) {
        if self.query.is_complete() {
            self.report(state, executor);
        }
    }

    fn report(&mut self, state: &State, executor: &Executor<impl Host>) {
        let mut processes = Vec::new();
        for running in state.processes().running() {
            let json = self.query.take_reply(running.process);
            processes.push(process_stats(running, json, executor));
        }
        for (running, name, number) in state.apps().running() {
            let mut process = process_stats(running, None, executor);
            (process.name, process.number) = (Some(name), Some(number));
            processes.push(process);
        }
        let allowance = state
            .processes()
            .memory
            .totals
            .map(|totals| MemoryAllowance {
                limit: totals.budget.limit,
                used: totals.used.bytes,
                container: executor.container.clone(),
                machine: self.machine,
            });
        let report = StatsReport {
            processes,
            allowance,
        };
        for asker in self.query.close() {
            // The client may be gone.
            let _ = asker.send(report.clone());
        }
    }
}

fn process_stats(
    running: RunningProcess,
    json: Option<String>,
    executor: &Executor<impl Host>,
) -> ProcessStats {
    let worker = match running.process {
        RubyProcess::Mold(_) | RubyProcess::App(_) => None,
        RubyProcess::Worker(worker) => Some(worker),
    };
    ProcessStats {
        role: running.role,
        name: None,
        number: worker.map(|worker| worker.number),
        generation: Some(running.generation),
        pid: running.pid,
        requests: worker.map(|worker| executor.requests(worker)),
        json,
    }
}
