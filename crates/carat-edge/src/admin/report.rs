//! What a server weighs, and what it saves: plain arithmetic on plain numbers.

use serde::Serialize;
use serde_json::Value;

use crate::supervise::{ProcessStats, Role, Rollup};

/// Who reports.
#[derive(Debug, Serialize)]
pub(super) struct Server {
    pub(super) version: String,
    pub(super) pid: u32,
}

/// A process on the scales.
#[derive(Debug)]
pub(super) struct Weight {
    pub(super) process: ProcessStats,
    /// `None` when the kernel does not let it be read.
    pub(super) rollup: Option<Rollup>,
}

/// What `GET /memory` answers; all sizes are bytes.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    server: Server,
    processes: Vec<Row>,
    totals: Totals,
    fit: Option<Fit>,
    without_sharing: Option<u64>,
    budget: Option<Budget>,
}

/// One process.
#[derive(Debug, Serialize)]
struct Row {
    role: Role,
    number: Option<u32>,
    generation: Option<u32>,
    pid: u32,
    requests: Option<u64>,
    memory: Option<Memory>,
    /// What the process says of itself; `None` when it did not answer in time.
    figures: Option<Value>,
}

/// The memory of one process.
#[derive(Debug, PartialEq, Serialize)]
struct Memory {
    rss: u64,
    pss: u64,
    private: u64,
    /// `rss - private`: the kernel does not tell whom it is shared with.
    shared: u64,
    swap: u64,
    /// `shared` in percent of `rss`.
    sharing_percent: f64,
}

/// All processes together.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Totals {
    /// What all weigh: each page once, but for what other programs share.
    pss: u64,
    private: u64,
    /// `pss - private`: each shared page once.
    shared: u64,
    swap: u64,
}

/// What all may weigh together (the option `memory`).
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Budget {
    limit: u64,
    used: u64,
    /// What the container or the machine has.
    whole: Option<u64>,
    source: Option<Source>,
}

/// Whose limit it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Container,
    Machine,
}

/// What n workers weigh: `base + per_worker * n`.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Fit {
    workers: u64,
    /// All that is not some worker's own: the edge, the mold, and what the workers share.
    base: u64,
    /// The mean of what a worker has for itself.
    per_worker: u64,
}

impl Report {
    pub(super) fn new(server: Server, weights: Vec<Weight>, budget: Option<Budget>) -> Report {
        let totals = Totals::of(&weights);
        Report {
            server,
            fit: Fit::of(&weights, totals.pss),
            without_sharing: without_sharing(&weights),
            totals,
            budget,
            processes: weights.into_iter().map(Row::from).collect(),
        }
    }
}

impl Budget {
    /// The smaller of what the container and the machine have is what counts.
    pub(super) fn new(
        limit: u64,
        used: u64,
        container: Option<u64>,
        machine: Option<u64>,
    ) -> Budget {
        let container = container.map(|bytes| (bytes, Source::Container));
        let machine = machine.map(|bytes| (bytes, Source::Machine));
        let tightest = container.into_iter().chain(machine);
        let tightest = tightest.min_by_key(|(bytes, _)| *bytes);
        Budget {
            limit,
            used,
            whole: tightest.map(|(bytes, _)| bytes),
            source: tightest.map(|(_, source)| source),
        }
    }
}

impl From<Weight> for Row {
    fn from(Weight { process, rollup }: Weight) -> Row {
        let json = process.json.as_deref();
        Row {
            role: process.role,
            number: process.number,
            generation: process.generation,
            pid: process.pid,
            requests: process.requests,
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
    fn of(weights: &[Weight]) -> Totals {
        let rollups = weights.iter().filter_map(|weight| weight.rollup.as_ref());
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
    /// `None` without a worker.
    fn of(weights: &[Weight], pss: u64) -> Option<Fit> {
        let private: Vec<u64> = workers(weights).map(|rollup| rollup.private).collect();
        let workers = private.len() as u64;
        let own: u64 = private.iter().sum();
        Some(Fit {
            workers,
            base: pss.saturating_sub(own),
            per_worker: own.checked_div(workers)?,
        })
    }
}

/// What the edge and the same workers would weigh if each worker had loaded the application by itself: what no file
/// backs counts in full for each, files that are mapped (Ruby and its libraries) as they do now, because processes
/// share those anyway; and the mold is not needed. `None` without a worker.
fn without_sharing(weights: &[Weight]) -> Option<u64> {
    workers(weights).next()?;
    let edge = rollups(weights, Role::Edge).map(|rollup| rollup.pss);
    let alone =
        |rollup: &Rollup| rollup.anonymous + rollup.pss.saturating_sub(rollup.anonymous_pss);
    Some(edge.chain(workers(weights).map(alone)).sum())
}

fn workers(weights: &[Weight]) -> impl Iterator<Item = &Rollup> {
    rollups(weights, Role::Worker)
}

fn rollups(weights: &[Weight], role: Role) -> impl Iterator<Item = &Rollup> {
    let meant = weights.iter().filter(move |it| it.process.role == role);
    meant.filter_map(|weight| weight.rollup.as_ref())
}

/// With one digit after the point.
#[expect(
    clippy::cast_precision_loss,
    reason = "a thousandth more or less is meant"
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

    fn weight(role: Role, [rss, pss, private]: [u64; 3]) -> Weight {
        let rollup = Rollup {
            rss,
            pss,
            private,
            anonymous: rss - 10,
            anonymous_pss: pss - 2,
            swap: 1,
        };
        let process = ProcessStats {
            role,
            number: (role == Role::Worker).then_some(1),
            generation: Some(1),
            pid: 42,
            requests: None,
            json: None,
        };
        Weight {
            process,
            rollup: Some(rollup),
        }
    }

    fn weights() -> Vec<Weight> {
        vec![
            weight(Role::Edge, [20, 12, 10]),
            weight(Role::Mold, [100, 40, 10]),
            weight(Role::Worker, [110, 50, 20]),
            weight(Role::Worker, [110, 60, 30]),
        ]
    }

    fn server() -> Server {
        Server {
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
        assert_eq!(Totals::of(&weights()), expected);
    }

    #[test]
    fn the_fit_gives_the_total_for_as_many_workers_as_there_are() {
        let fit = Fit::of(&weights(), 162).expect("workers");
        let expected = Fit {
            workers: 2,
            base: 112,
            per_worker: 25,
        };
        assert_eq!(fit, expected);
        assert_eq!(fit.base + fit.workers * fit.per_worker, 162);
    }

    #[test]
    fn without_sharing_each_worker_has_all_that_no_file_backs_for_itself() {
        assert_eq!(without_sharing(&weights()), Some(12 + 2 * (100 + 2)));
    }

    #[test]
    fn the_budget_comes_from_what_is_smaller() {
        let source = |container, machine| {
            let budget = Budget::new(8, 2, container, machine);
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
    fn without_workers_there_is_nothing_to_fit() {
        let weights = vec![weight(Role::Edge, [20, 12, 10])];
        assert_eq!(Fit::of(&weights, 12), None);
        assert_eq!(without_sharing(&weights), None);
    }

    #[test]
    fn sharing_is_the_part_of_what_is_resident_that_others_have_as_well() {
        let weights = weights();
        let mold = rollups(&weights, Role::Mold).next().expect("a mold");
        let memory = Memory::from(mold);
        assert_eq!((memory.shared, memory.sharing_percent), (90, 90.0));
        assert_eq!(percent(2, 3).to_string(), "66.7");
        assert_eq!(percent(0, 0).to_string(), "0");
    }

    #[test]
    fn a_process_that_cannot_be_read_or_did_not_answer_has_null_there() {
        let mut silent = weight(Role::Worker, [110, 50, 20]);
        silent.rollup = None;
        let mut garbled = weight(Role::Worker, [110, 50, 20]);
        garbled.process.json = Some("{".to_owned());
        let mut telling = weight(Role::Mold, [100, 40, 10]);
        telling.process.json = Some(r#"{"ruby":"3.3.8"}"#.to_owned());

        let report = Report::new(server(), vec![silent, garbled, telling], None);
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
    }
}
