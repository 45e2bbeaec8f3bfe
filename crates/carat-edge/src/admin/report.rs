//! How much memory a server uses and saves: plain arithmetic.

use serde::Serialize;
use serde_json::Value;

use crate::supervise::ProcessStats;
use carat_machine::Rollup;
use carat_supervisor::Role;

/// The server that reports.
#[derive(Debug, Serialize)]
pub(super) struct ReportingServer {
    pub(super) version: String,
    pub(super) pid: u32,
}

/// A process and its memory.
#[derive(Debug)]
pub(super) struct MeasuredProcess {
    pub(super) stats: ProcessStats,
    /// `None` if it cannot be read.
    pub(super) rollup: Option<Rollup>,
}

/// The response to `GET /memory`; all sizes are bytes.
#[derive(Debug, Serialize)]
pub(super) struct MemoryReport {
    #[serde(flatten)]
    server: ReportingServer,
    processes: Vec<Row>,
    totals: Totals,
    fit: Option<Fit>,
    without_sharing: Option<u64>,
    /// The PSS of the molds that do not fork, and end soon or take over.
    passing_molds: u64,
    budget: Option<BudgetReport>,
    clients: ClientsReport,
    /// The responses that the edge keeps (the option `cache`); `None` without it.
    cache: Option<ClientsReport>,
}

/// One process.
#[derive(Debug, Serialize)]
struct Row {
    role: Role,
    name: Option<String>,
    number: Option<u32>,
    generation: Option<u32>,
    pid: u32,
    requests: Option<u64>,
    memory: Option<Memory>,
    /// The stats of the process; `None` if it did not reply in time.
    figures: Option<Value>,
}

/// The memory of one process.
#[derive(Debug, PartialEq, Serialize)]
struct Memory {
    rss: u64,
    pss: u64,
    private: u64,
    /// `rss - private`: the kernel does not say which process shares it.
    shared: u64,
    swap: u64,
    /// `shared` in percent of `rss`.
    sharing_percent: f64,
}

/// All processes together.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Totals {
    /// Each page once, except those that other programs share.
    pss: u64,
    private: u64,
    /// `pss - private`: each shared page once.
    shared: u64,
    swap: u64,
}

/// The memory that all may use together (the option `memory`).
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct BudgetReport {
    limit: u64,
    used: u64,
    /// The memory of the container or the machine.
    whole: Option<u64>,
    source: Option<Source>,
}

/// What may be held, and is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct ClientsReport {
    pub(super) limit: u64,
    pub(super) used: u64,
}

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Container,
    Machine,
}

/// The memory of n workers: `base + per_worker * n`.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Fit {
    workers: u64,
    /// The edge, the mold, and what the workers share.
    base: u64,
    /// The mean private memory of a worker.
    per_worker: u64,
}

impl MemoryReport {
    pub(super) fn new(
        server: ReportingServer,
        processes: Vec<MeasuredProcess>,
        budget: Option<BudgetReport>,
        (clients, cache): (ClientsReport, Option<ClientsReport>),
    ) -> MemoryReport {
        let totals = Totals::of(&processes);
        let passing_molds = passing_molds(&processes);
        MemoryReport {
            server,
            fit: Fit::of(&processes, totals.pss - passing_molds),
            without_sharing: without_sharing(&processes),
            passing_molds,
            totals,
            budget,
            clients,
            cache,
            processes: processes.into_iter().map(Row::from).collect(),
        }
    }
}

impl BudgetReport {
    /// The smaller of the memory of the container and of the machine counts.
    pub(super) fn new(
        limit: u64,
        used: u64,
        container: Option<u64>,
        machine: Option<u64>,
    ) -> BudgetReport {
        let container = container.map(|bytes| (bytes, Source::Container));
        let machine = machine.map(|bytes| (bytes, Source::Machine));
        let tightest = container.into_iter().chain(machine);
        let tightest = tightest.min_by_key(|(bytes, _)| *bytes);
        BudgetReport {
            limit,
            used,
            whole: tightest.map(|(bytes, _)| bytes),
            source: tightest.map(|(_, source)| source),
        }
    }
}

impl From<MeasuredProcess> for Row {
    fn from(MeasuredProcess { stats, rollup }: MeasuredProcess) -> Row {
        let json = stats.json.as_deref();
        Row {
            role: stats.role,
            name: stats.name,
            number: stats.number,
            generation: stats.generation,
            pid: stats.pid,
            requests: stats.requests,
            memory: rollup.as_ref().map(Memory::from),
            figures: json.and_then(|json| serde_json::from_str(json).ok()),
        }
    }
}

impl From<&Rollup> for Memory {
    fn from(rollup: &Rollup) -> Memory {
        Memory {
            rss: rollup.rss,
            pss: rollup.pss,
            private: rollup.private,
            shared: rollup.shared(),
            swap: rollup.swap,
            sharing_percent: percent(rollup.shared(), rollup.rss),
        }
    }
}

impl Totals {
    fn of(processes: &[MeasuredProcess]) -> Totals {
        let rollups = processes
            .iter()
            .filter_map(|process| process.rollup.as_ref());
        let mut totals = Totals::default();
        for rollup in rollups {
            totals.pss += rollup.pss;
            totals.private += rollup.private;
            totals.swap += rollup.swap;
        }
        totals.shared = totals.pss.saturating_sub(totals.private);
        totals
    }
}

impl Fit {
    /// `None` without a worker. `pss` is that of all processes, without passing molds.
    fn of(processes: &[MeasuredProcess], pss: u64) -> Option<Fit> {
        let private: Vec<u64> = workers(processes).map(|rollup| rollup.private).collect();
        let workers = private.len() as u64;
        let own: u64 = private.iter().sum();
        Some(Fit {
            workers,
            base: pss.saturating_sub(own),
            per_worker: own.checked_div(workers)?,
        })
    }
}

/// The memory of the edge and the same workers and processes if each had loaded the application by itself, without a mold.
/// Anonymous memory counts in full for each. Mapped files (Ruby and its libraries) count as now, because processes share
/// them anyway. `None` without a worker.
fn without_sharing(processes: &[MeasuredProcess]) -> Option<u64> {
    workers(processes).next()?;
    let edge = rollups(processes, Role::Edge).map(|rollup| rollup.pss);
    let alone =
        |rollup: &Rollup| rollup.anonymous + rollup.pss.saturating_sub(rollup.anonymous_pss);
    let apps = rollups(processes, Role::Process).map(alone);
    let forked = rollups(processes, Role::Descendant).map(|rollup| rollup.pss);
    let workers = workers(processes).map(alone);
    Some(edge.chain(workers).chain(apps).chain(forked).sum())
}

fn passing_molds(processes: &[MeasuredProcess]) -> u64 {
    let roles = [Role::NextMold, Role::PreviousMold, Role::EndingMold];
    let molds = roles.into_iter().flat_map(|role| rollups(processes, role));
    molds.map(|rollup| rollup.pss).sum()
}

fn workers(processes: &[MeasuredProcess]) -> impl Iterator<Item = &Rollup> {
    rollups(processes, Role::Worker)
}

fn rollups(processes: &[MeasuredProcess], role: Role) -> impl Iterator<Item = &Rollup> {
    let meant = processes.iter().filter(move |it| it.stats.role == role);
    meant.filter_map(|process| process.rollup.as_ref())
}

/// With one decimal.
#[expect(
    clippy::cast_precision_loss,
    reason = "rounded to a tenth of a percent"
)]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64 * 1000.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(role: Role, [rss, pss, private]: [u64; 3]) -> MeasuredProcess {
        let rollup = Rollup {
            rss,
            pss,
            private,
            anonymous: rss - 10,
            anonymous_pss: pss - 2,
            swap: 1,
        };
        let stats = ProcessStats {
            role,
            name: None,
            number: (role == Role::Worker).then_some(1),
            generation: Some(1),
            pid: 42,
            requests: None,
            json: None,
        };
        MeasuredProcess {
            stats,
            rollup: Some(rollup),
        }
    }

    fn processes() -> Vec<MeasuredProcess> {
        vec![
            process(Role::Edge, [20, 12, 10]),
            process(Role::Mold, [100, 40, 10]),
            process(Role::Worker, [110, 50, 20]),
            process(Role::Worker, [110, 60, 30]),
        ]
    }

    fn server() -> ReportingServer {
        ReportingServer {
            version: "0.1.0".to_owned(),
            pid: 41,
        }
    }

    #[test]
    fn totals_count_each_page_once() {
        let expected = Totals {
            pss: 162,
            private: 70,
            shared: 92,
            swap: 4,
        };
        assert_eq!(Totals::of(&processes()), expected);
    }

    #[test]
    fn the_fit_gives_the_total_for_the_current_workers() {
        let fit = Fit::of(&processes(), 162).expect("workers");
        let expected = Fit {
            workers: 2,
            base: 112,
            per_worker: 25,
        };
        assert_eq!(fit, expected);
        assert_eq!(fit.base + fit.workers * fit.per_worker, 162);
    }

    #[test]
    fn a_mold_that_passes_is_no_part_of_the_fit() {
        let report = |processes| {
            let clients = ClientsReport::default();
            let report = MemoryReport::new(server(), processes, None, (clients, None));
            serde_json::to_value(&report).expect("JSON")
        };
        let before = report(processes());
        let mut processes = processes();
        processes.push(process(Role::PreviousMold, [100, 30, 25]));
        let during = report(processes);
        assert_eq!(before["fit"], during["fit"]);
        assert_eq!(before["without_sharing"], during["without_sharing"]);
        assert_eq!(during["passing_molds"], 30);
        assert_eq!(during["processes"][4]["role"], "previous_mold");
        assert_eq!(during["totals"]["pss"], 162 + 30);
    }

    #[test]
    fn without_sharing_anonymous_memory_counts_for_each_worker() {
        assert_eq!(without_sharing(&processes()), Some(12 + 2 * (100 + 2)));
    }

    #[test]
    fn the_budget_comes_from_the_smaller_of_container_and_machine() {
        let source = |container, machine| {
            let budget = BudgetReport::new(8, 2, container, machine);
            (budget.whole, budget.source)
        };
        assert_eq!(
            source(Some(10), Some(20)),
            (Some(10), Some(Source::Container))
        );
        assert_eq!(
            source(Some(30), Some(20)),
            (Some(20), Some(Source::Machine))
        );
        assert_eq!(source(None, Some(20)), (Some(20), Some(Source::Machine)));
        assert_eq!(source(None, None), (None, None));
    }

    #[test]
    fn without_workers_there_is_no_fit() {
        let processes = vec![process(Role::Edge, [20, 12, 10])];
        assert_eq!(Fit::of(&processes, 12), None);
        assert_eq!(without_sharing(&processes), None);
    }

    #[test]
    fn sharing_is_the_shared_part_of_resident_memory() {
        let processes = processes();
        let mold = rollups(&processes, Role::Mold).next().expect("a mold");
        let memory = Memory::from(mold);
        assert_eq!((memory.shared, memory.sharing_percent), (90, 90.0));
        assert_eq!(percent(2, 3).to_string(), "66.7");
        assert_eq!(percent(0, 0).to_string(), "0");
    }

    #[test]
    fn a_process_that_cannot_be_read_or_did_not_reply_has_null() {
        let mut silent = process(Role::Worker, [110, 50, 20]);
        silent.rollup = None;
        let mut garbled = process(Role::Worker, [110, 50, 20]);
        garbled.stats.json = Some("{".to_owned());
        let mut telling = process(Role::Mold, [100, 40, 10]);
        telling.stats.json = Some(r#"{"ruby":"3.3.8"}"#.to_owned());

        let report = MemoryReport::new(
            server(),
            vec![silent, garbled, telling],
            None,
            (ClientsReport { limit: 8, used: 2 }, None),
        );
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(
            (&json["version"], &json["pid"]),
            (&"0.1.0".into(), &41.into())
        );
        let rows = &json["processes"];
        assert!(rows[0]["memory"].is_null() && rows[0]["figures"].is_null());
        assert_eq!(
            (&rows[0]["role"], &rows[0]["number"]),
            (&"worker".into(), &1.into())
        );
        assert_eq!(rows[1]["memory"]["private"], 20);
        assert!(rows[1]["figures"].is_null());
        assert_eq!(rows[2]["figures"]["ruby"], "3.3.8");
        assert_eq!(json["fit"]["workers"], 1);
        assert_eq!(
            (&json["clients"]["limit"], &json["clients"]["used"]),
            (&8.into(), &2.into())
        );
    }
}
