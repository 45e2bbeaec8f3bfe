use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};

use super::server_run::ServerRun;
use carat_log::Log;
use carat_settings::Settings;

/// How many seeds the test runs, unless `CARAT_SIM_SEEDS` says otherwise.
const SEEDS: u64 = 10_000;

/// The result of a seed's run.
#[derive(Debug, Default, PartialEq, Eq)]
struct SeedResult {
    hash: u64,
    steps: u64,
    requests: usize,
    collections: u64,
    most_resting: usize,
    violation: Option<String>,
}

thread_local! {
    /// How many panics this thread has had: tokio keeps those of a task to itself.
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

fn count_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            others(panic);
        }));
    });
}

/// Runs a seed, and adds a violation when anything panicked.
fn run(seed: u64, is_printed: bool, log: Option<&Rc<Log>>) -> SeedResult {
    count_panics();
    let before = PANICS.get();
    let result = panic::catch_unwind(AssertUnwindSafe(|| simulate(seed, is_printed, log)));
    let mut result = result.unwrap_or_default();
    if PANICS.get() > before {
        result.violation = Some("a panic".to_owned());
    }
    result
}

fn simulate(seed: u64, is_printed: bool, log: Option<&Rc<Log>>) -> SeedResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut simulation = ServerRun::new(seed, is_printed, log);
        simulation.run().await;
        let ledger = simulation.world.ledger.borrow();
        SeedResult {
            hash: simulation.world.trace.hash(),
            steps: simulation.world.trace.steps(),
            requests: ledger.len(),
            collections: simulation.world.collections.get(),
            most_resting: simulation.rests.most,
            violation: ledger.violation().cloned(),
        }
    })
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn quiet_log() -> Rc<Log> {
    Rc::new(Log::open(&Settings::plain()).expect("/dev/null"))
}

/// Runs seeds until all are done or one fails.
fn run_seeds(next: &AtomicU64, end: u64) -> Option<String> {
    let log = quiet_log();
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end {
            return None;
        }
        if let Some(violation) = run(seed, false, Some(&log)).violation {
            return Some(format!("seed {seed}: {violation}"));
        }
    }
}

#[test]
fn whatever_happens_no_request_vanishes_or_runs_twice() {
    if let Some(seed) = variable("CARAT_SIM_SEED") {
        let result = run(seed, true, None);
        assert_eq!(result.violation, None, "seed {seed}");
        return;
    }
    let first = variable("CARAT_SIM_FIRST").unwrap_or(0);
    let end = first + variable("CARAT_SIM_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(first);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failures: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| run_seeds(&next, end)))
            .collect();
        let results = threads.into_iter().map(ScopedJoinHandle::join);
        results
            .filter_map(|result| result.expect("no panic"))
            .collect()
    });
    assert!(
        failures.is_empty(),
        "repeat with CARAT_SIM_SEED: {failures:#?}"
    );
}

#[test]
fn two_runs_of_a_seed_are_the_same() {
    let log = quiet_log();
    let (mut collections, mut most_resting) = (0, 0);
    for seed in 0..100 {
        let [first, second] = [(); 2].map(|()| run(seed, false, Some(&log)));
        assert_eq!(first, second, "seed {seed}");
        collections += first.collections;
        most_resting = most_resting.max(first.most_resting);
    }
    assert!(collections > 50, "{collections}: workers hardly ever rest");
    assert!(most_resting > 1, "no two workers ever rest at a time");
}
