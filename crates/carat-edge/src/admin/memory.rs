use std::rc::Rc;

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::edge_stats::edge_stats;
use super::report::{MeasuredProcess, budget, memory_report};
use crate::supervise::{Mailbox, Message, ProcessStats, StatsMessage, StatsReport};
use carat_exchange::ClientMemory;
use carat_files::REPORT_THREAD;
use carat_http::{PartList, Server};
use carat_machine::{Rollup, group_members};
use carat_settings::Settings;
use carat_supervisor::Role;

/// Reads the memory of all processes for operators.
pub(super) struct MemoryReader {
    settings: Rc<Settings>,
    mailbox: Mailbox,
    clients: Rc<ClientMemory>,
    parts: Rc<PartList>,
}

impl MemoryReader {
    pub(super) fn new(server: &Server, mailbox: Mailbox) -> MemoryReader {
        MemoryReader {
            settings: Rc::clone(server.settings()),
            mailbox,
            clients: Rc::clone(server.client_memory()),
            parts: Rc::clone(server.parts()),
        }
    }

    /// The memory and the stats of each process, as JSON.
    pub(super) async fn read(&self) -> Result<String, StatusCode> {
        let ask = |asker| Message::Stats(StatsMessage::Ask(asker));
        let stats = self.mailbox.ask(ask).await;
        let stats = stats.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
        let version = self.settings.version.clone();
        let held = |limit: u64, used: u64| json!({ "limit": limit, "used": used });
        let parts = self.parts.iter().filter_map(|part| {
            let memory = part.memory()?;
            Some((part.name().to_owned(), held(memory.limit(), memory.held())))
        });
        let clients = held(self.clients.own_limit(), self.clients.used());
        let held = parts.chain([("clients".to_owned(), clients)]).collect();
        let report = REPORT_THREAD.run(move || report(&version, stats, held));
        let report = report.await;
        report.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// Reads the memory of the processes. Processes that ended meanwhile are omitted.
fn report(version: &str, stats: StatsReport, held: Map<String, Value>) -> String {
    let own_pid = std::process::id();
    let edge = ProcessStats {
        role: Role::Edge,
        name: None,
        number: None,
        generation: None,
        pid: own_pid,
        requests: None,
        json: Some(edge_stats().to_string()),
    };
    let descendants = descendants(&stats.processes);
    let all = std::iter::once(edge).chain(stats.processes);
    let all = all.chain(descendants);
    let measured = all.filter_map(|process| match Rollup::of(process.pid) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        rollup => Some(MeasuredProcess {
            stats: process,
            rollup: rollup.ok(),
        }),
    });
    let budget = stats.allowance.map(|it| {
        let container = it.container.memory().limit;
        budget(it.limit, it.used, container, it.machine)
    });
    let measured: Vec<_> = measured.collect();
    memory_report(version, own_pid, &measured, budget.as_ref(), held).to_string()
}

/// The processes that further processes of the application have forked.
fn descendants(processes: &[ProcessStats]) -> Vec<ProcessStats> {
    let apps = processes.iter().filter(|it| it.role == Role::Process);
    let groups: Vec<u32> = apps.clone().map(|it| it.pid).collect();
    let forked = group_members(&groups)
        .into_iter()
        .filter(|(group, pid)| group != pid);
    let of_app = |(group, pid)| {
        let app = apps.clone().find(|it| it.pid == group)?;
        Some(ProcessStats {
            role: Role::Descendant,
            pid,
            ..app.clone()
        })
    };
    forked.filter_map(of_app).collect()
}
