use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule, WorkerCount};

use crate::simulation::plan::random::SeededRandom;
use carat_settings::{
    PartSettings, PoolPriority, PoolSettings, ProcessSettings, QueueOrder, RestartPolicy, Settings,
};
use rustix::process::Signal;

/// A scenario that a seed determines: the server, its load, and its faults.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) clients: u64,
    /// Requests of each client, one after the other.
    pub(crate) requests: u64,
    /// Clients of the cable, and messages of each.
    pub(crate) members: u64,
    pub(crate) messages: u64,
    /// The bytes of such a message; a large number is too much for a client that does not read.
    pub(crate) filler: usize,
    /// Clients of the control socket that want a console.
    pub(crate) consoles: u64,
    /// Microseconds that a client thinks before each request, at most.
    pub(crate) think: u64,
    /// After how many requests of a worker a full garbage collection is due, if the edge says when it runs.
    pub(crate) collects_after: Option<u64>,
    /// How many faults there are, in thousandths of the usual number; 0 in a calm run.
    pub(crate) trouble: u64,
    /// When the faults end, in microseconds.
    pub(crate) calm_at: u64,
    /// When new code is to take over, if at all.
    pub(crate) restart_at: Option<u64>,
    /// When the server is told to stop, if not after everything has settled.
    pub(crate) stop_at: Option<u64>,
    /// Whether the server is told to stop twice.
    pub(crate) is_cut_short: bool,
}

impl Scenario {
    pub(crate) fn random(random: &SeededRandom) -> Scenario {
        let calm_at = random.between(300_000, 2_500_000);
        Scenario {
            // Now and then there are more clients than the server has places for, so that it is overloaded.
            clients: if random.chance(50) {
                40
            } else {
                random.between(1, 8)
            },
            requests: random.between(1, 8),
            members: random.pick(&[0, 0, 0, 1, 2, 5]),
            messages: random.between(1, 6),
            consoles: random.pick(&[0, 0, 0, 1, 2, 4]),
            filler: if random.chance(50) { 60_000 } else { 0 },
            think: random.pick(&[0, 500, 20_000, 300_000, 1_500_000]),
            collects_after: random.pick(&[None, None, Some(1), Some(2), Some(5), Some(20)]),
            trouble: random.pick(&[0, 300, 1000, 1000, 3000]),
            calm_at,
            restart_at: random
                .chance(300)
                .then(|| random.between(0, calm_at * 3 / 2)),
            stop_at: random
                .chance(350)
                .then(|| random.between(0, calm_at * 3 / 2)),
            is_cut_short: random.chance(50),
        }
    }

    /// The settings of a small server with short timeouts.
    pub(crate) fn settings(random: &SeededRandom) -> Settings {
        let millis = |choices: &[u64]| Duration::from_millis(random.pick(choices));
        // With many workers, several rest at a time.
        let fewest = random.pick(&[1, 2, 3, 1, 2, 3, 1, 2, 8, 10]);
        let min = u32::try_from(fewest).expect("small");
        let max = min + u32::try_from(random.pick(&[0, 0, 1, 2])).expect("small");
        let processes = processes(random);
        // A second mold fits only while no worker runs.
        let is_tight = max == 1 && processes.is_empty() && random.chance(500);
        let memory = if is_tight {
            5 * WORKER_BYTES / 2
        } else {
            u64::MAX
        };
        Settings {
            memory: MemoryLimit::Bytes(memory),
            workers: WorkerCount::Between { min, max },
            threads: random.pick(&[1, 1, 2, 3]),
            parts: parts(random),
            queue_limit: random.pick(&[1, 4, 20, 100]),
            queue: random.pick(&[QueueOrder::Adaptive, QueueOrder::Adaptive, QueueOrder::Fifo]),
            queue_delay: millis(&[1, 20, 200]),
            request_timeout: Some(millis(&[300, 1000, 3000])),
            slow_request: random.pick(&[None, Some(Duration::from_millis(200))]),
            queue_timeout: millis(&[200, 1000, 3000]),
            boot_timeout: millis(&[800, 2000]),
            shutdown_timeout: millis(&[300, 1000, 3000]),
            worker_idle_timeout: millis(&[300, 5000]),
            queue_time_target: millis(&[1, 20]),
            worker_requests: random.pick(&[None, None, Some(5), Some(20)]),
            worker_memory: random.pick(&[None, Some(2 * WORKER_BYTES)]),
            refork: if random.chance(400) {
                ReforkRule::After(vec![3, 10])
            } else {
                ReforkRule::Off
            },
            keep_previous: millis(&[1, 500, 3000]),
            processes,
            pool: pools(random),
            drain_delay: random.pick(&[None, None, Some(Duration::from_millis(400))]),
            max_connections: 100,
            chosen_connections: None,
            ..Settings::plain()
        }
    }
}

/// The sections of the parts that the simulation knows.
fn parts(random: &SeededRandom) -> PartSettings {
    let mut parts = Settings::plain().parts;
    parts.fibers.slots = random.pick(&[None, None, Some(2), Some(8)]);
    if cfg!(feature = "cable") {
        parts.cable.path = Some("/cable".to_owned());
    }
    parts
}

/// Pools for the paths of some requests, which are their numbers.
fn pools(random: &SeededRandom) -> Vec<PoolSettings> {
    let priorities = [PoolPriority::Low, PoolPriority::Normal, PoolPriority::High];
    let pool = |first: &&str| PoolSettings {
        name: (*first).to_owned(),
        paths: vec![format!("/{first}*")],
        threads: random.pick(&[Some(1), Some(2), None]),
        queue_limit: random.pick(&[None, Some(3)]),
        priority: random.pick(&priorities),
    };
    let names: &[&str] = random.pick(&[&[], &["1"], &["2", "3"]]);
    names.iter().map(pool).collect()
}

/// Further processes of the application: none, or of one name.
fn processes(random: &SeededRandom) -> Vec<ProcessSettings> {
    let count = u32::try_from(random.pick(&[1, 1, 2])).expect("small");
    let most = count + u32::try_from(random.pick(&[0, 0, 1])).expect("small");
    let declared = ProcessSettings {
        name: "jobs".to_owned(),
        count,
        most,
        memory: random.pick(&[None, Some(2 * WORKER_BYTES)]),
        stop_signal: Signal::TERM.as_raw(),
        stop_timeout: None,
        restart: random.pick(&[
            RestartPolicy::Always,
            RestartPolicy::Always,
            RestartPolicy::OnFailure,
            RestartPolicy::Never,
        ]),
        overlap: random.chance(300),
        is_command: random.chance(200),
    };
    if random.chance(500) {
        vec![declared]
    } else {
        Vec::new()
    }
}

/// Private memory of a worker that has not grown.
pub(crate) const WORKER_BYTES: u64 = 20 << 20;
