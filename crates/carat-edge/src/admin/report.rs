//! How much memory a server uses and saves: plain arithmetic.

use serde_json::{Map, Value, json};

use crate::supervise::ProcessStats;
use carat_machine::Rollup;
use carat_supervisor::Role;

/// A process and its memory.
pub(super) struct MeasuredProcess {
    pub(super) stats: ProcessStats,
    /// `None` if it cannot be read.
    pub(super) rollup: Option<Rollup>,
}

/// The response to `GET /memory`. All sizes are in bytes, and a value that does not exist is null. `held` says what
/// clients and parts may hold, and what they hold.
pub(super) fn memory_report(
    version: &str,
    pid: u32,
    processes: &[MeasuredProcess],
    budget: Option<&Value>,
    held: Map<String, Value>,
) -> Value {
    let all = || processes.iter().filter_map(|it| it.rollup.as_ref());
    let pss: u64 = all().map(|rollup| rollup.pss).sum();
    let private: u64 = all().map(|rollup| rollup.private).sum();
    let passing_molds = passing_molds(processes);
    let mut report = json!({
        "version": version,
        "pid": pid,
        "processes": processes.iter().map(row).collect::<Vec<_>>(),
        "totals": {
            // Each page counts once; pages that other programs share count in part.
            "pss": pss,
            "private": private,
            // Each shared page counts once.
            "shared": pss.saturating_sub(private),
            "swap": all().map(|rollup| rollup.swap).sum::<u64>(),
        },
        "fit": fit(processes, pss - passing_molds),
        "without_sharing": without_sharing(processes),
        "passing_molds": passing_molds,
        "budget": budget,
    });
    for (holder, bytes) in held {
        report[&holder] = bytes;
    }
    report
}

/// The memory that all processes may use together (the option `memory`). The smaller of the container's memory and the
/// machine's counts.
pub(super) fn budget(limit: u64, used: u64, container: Option<u64>, machine: Option<u64>) -> Value {
    let container = container.map(|bytes| (bytes, "container"));
    let machine = machine.map(|bytes| (bytes, "machine"));
    let tightest = container.into_iter().chain(machine);
    let (whole, source) = tightest.min_by_key(|(bytes, _)| *bytes).unzip();
    json!({ "limit": limit, "used": used, "whole": whole, "source": source })
}

fn row(process: &MeasuredProcess) -> Value {
    let stats = &process.stats;
    let figures = stats.json.as_deref();
    let figures = figures.and_then(|json| serde_json::from_str::<Value>(json).ok());
    json!({
        "role": stats.role,
        "name": stats.name,
        "number": stats.number,
        "generation": stats.generation,
        "pid": stats.pid,
        "requests": stats.requests,
        "memory": process.rollup.as_ref().map(memory),
        // The stats of the process, if it replied in time.
        "figures": figures,
    })
}

fn memory(rollup: &Rollup) -> Value {
    json!({
        "rss": rollup.rss,
        "pss": rollup.pss,
        "private": rollup.private,
        // This is `rss - private`. The kernel does not say which processes share the pages.
        "shared": rollup.shared(),
        "swap": rollup.swap,
        // `shared` in percent of `rss`.
        "sharing_percent": percent(rollup.shared(), rollup.rss),
    })
}

/// The memory of n workers: `base + per_worker * n`. The base is the edge, the mold, and the memory that workers share;
/// each worker adds the mean of their private memory. `pss` is the PSS of all processes without passing molds. `None`
/// without a worker.
fn fit(processes: &[MeasuredProcess], pss: u64) -> Option<Value> {
    let private: Vec<u64> = workers(processes).map(|rollup| rollup.private).collect();
    let workers = private.len() as u64;
    let own: u64 = private.iter().sum();
    let per_worker = own.checked_div(workers)?;
    let base = pss.saturating_sub(own);
    Some(json!({ "workers": workers, "base": base, "per_worker": per_worker }))
}

/// The memory of the edge, the workers, and the further processes if each had loaded the application by itself, without
/// a mold. Anonymous memory counts in full for each. Mapped files (Ruby and its libraries) count as now, because
/// processes share them anyway. `None` without a worker.
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

/// The PSS of the molds that do not fork: they end soon, or take over soon.
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

/// The percentage that `part` is of `whole`, with one decimal.
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

    fn report(processes: &[MeasuredProcess]) -> Value {
        let clients = json!({ "limit": 8, "used": 2 });
        memory_report(
            "0.1.0",
            41,
            processes,
            None,
            Map::from_iter([("clients".to_owned(), clients)]),
        )
    }

    #[test]
    fn totals_count_each_page_once() {
        let expected = json!({ "pss": 162, "private": 70, "shared": 92, "swap": 4 });
        assert_eq!(report(&processes())["totals"], expected);
    }

    #[test]
    fn the_fit_gives_the_total_for_the_current_workers() {
        let expected = json!({ "workers": 2, "base": 162 - 2 * 25, "per_worker": 25 });
        assert_eq!(fit(&processes(), 162), Some(expected));
    }

    #[test]
    fn a_mold_that_passes_is_no_part_of_the_fit() {
        let before = report(&processes());
        let mut processes = processes();
        processes.push(process(Role::PreviousMold, [100, 30, 25]));
        let during = report(&processes);
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
            let budget = budget(8, 2, container, machine);
            json!([budget["whole"], budget["source"]])
        };
        assert_eq!(source(Some(10), Some(20)), json!([10, "container"]));
        assert_eq!(source(Some(30), Some(20)), json!([20, "machine"]));
        assert_eq!(source(None, Some(20)), json!([20, "machine"]));
        assert_eq!(source(None, None), json!([null, null]));
    }

    #[test]
    fn without_workers_there_is_no_fit() {
        let processes = vec![process(Role::Edge, [20, 12, 10])];
        assert_eq!(fit(&processes, 12), None);
        assert_eq!(without_sharing(&processes), None);
    }

    #[test]
    fn sharing_is_the_shared_part_of_resident_memory() {
        let processes = processes();
        let mold = rollups(&processes, Role::Mold).next().expect("a mold");
        let memory = memory(mold);
        assert_eq!(
            (&memory["shared"], &memory["sharing_percent"]),
            (&json!(90), &json!(90.0))
        );
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

        let json = report(&[silent, garbled, telling]);
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
        assert_eq!(json["clients"], json!({ "limit": 8, "used": 2 }));
    }
}
