use std::rc::Rc;

use http::StatusCode;
use tokio::sync::oneshot;

use super::edge_stats::edge_stats;
use super::report::{BudgetReport, ClientsReport, MeasuredProcess, MemoryReport, ReportingServer};
use crate::http::{CacheReport, ResponseCache, Server};
use crate::supervise::{
    Mailbox, MemoryAllowance, Message, ProcessStats, StatsMessage, StatsReport,
};
use carat_exchange::ClientMemory;
use carat_files::REPORT_THREAD;
use carat_machine::{Rollup, group_members};
use carat_settings::Settings;
use carat_supervisor::Role;

/// Reads the memory of all processes for those who ask.
#[derive(Debug)]
pub(super) struct MemoryReader {
    settings: Rc<Settings>,
    mailbox: Mailbox,
    clients: Rc<ClientMemory>,
    cache: Option<Rc<ResponseCache>>,
}

impl MemoryReader {
    pub(super) fn new(server: &Server, mailbox: Mailbox) -> MemoryReader {
        MemoryReader {
            settings: Rc::clone(&server.settings),
            mailbox,
            clients: Rc::clone(server.client_memory()),
            cache: server.cache().cloned(),
        }
    }

    /// The memory and the stats of each process, as JSON.
    pub(super) async fn read(&self) -> Result<String, StatusCode> {
        let (asker, reply) = oneshot::channel();
        self.mailbox.send(Message::Stats(StatsMessage::Ask(asker)));
        // Without a supervisor the server is about to exit.
        let stats = reply.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        let server = ReportingServer {
            version: self.settings.version.clone(),
            pid: std::process::id(),
        };
        let clients = ClientsReport {
            limit: self.clients.own_limit(),
            used: self.clients.used(),
        };
        let cache = self.cache.as_ref().map(|cache| {
            let CacheReport { limit, used, .. } = cache.report();
            ClientsReport { limit, used }
        });
        let report = REPORT_THREAD.run(move || report(server, stats, (clients, cache)));
        let report = report.await;
        report.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// Reads the memory of the processes. Those that ended meanwhile are omitted.
fn report(
    server: ReportingServer,
    stats: StatsReport,
    held: (ClientsReport, Option<ClientsReport>),
) -> String {
    let edge = ProcessStats {
        role: Role::Edge,
        name: None,
        number: None,
        generation: None,
        pid: server.pid,
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
    let budget = stats.allowance.as_ref().map(budget);
    let report = MemoryReport::new(server, measured.collect(), budget, held);
    serde_json::to_string(&report).expect("a report has only string keys")
}

/// What the further processes of the application have forked.
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

fn budget(allowance: &MemoryAllowance) -> BudgetReport {
    let container = allowance.container.memory().limit;
    BudgetReport::new(
        allowance.limit,
        allowance.used,
        container,
        allowance.machine,
    )
}
