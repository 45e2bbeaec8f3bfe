use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_exchange::clock;
use carat_files::REPORT_THREAD;
use carat_machine::Rollup;
use carat_policy::WorkerCost;
use serde::Deserialize;
use tokio::time::sleep;

use crate::supervise::messages::{Mailbox, Message, ProcessStats, StatsMessage};
use carat_http::Server;

/// From one look at the workers to the next.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

/// Reading their memory takes at most this fraction of the time, as a divisor.
const READING_PART: u32 = 20;

/// What a worker says about itself.
#[derive(Deserialize)]
struct WorkerStats {
    stats: Used,
}

#[derive(Deserialize)]
struct Used {
    lanes: Vec<LaneUse>,
    cpu_seconds: f64,
    allocated_objects: u64,
}

#[derive(Deserialize)]
struct LaneUse {
    served: u64,
}

/// Tells the judge of a canary what the workers use. They are asked a few times a second, and not for each request.
pub(crate) async fn watch_costs(server: Rc<Server>, mailbox: Mailbox) {
    let mut reading_due = clock::now();
    loop {
        sleep(LOOK_PERIOD).await;
        let ask = |asker| Message::Stats(StatsMessage::Ask(asker));
        let Some(report) = mailbox.ask(ask).await else {
            // Without a supervisor the server is about to exit.
            return;
        };
        let mut workers: Vec<_> = report.processes.iter().filter_map(worker_cost).collect();
        if clock::now() >= reading_due && !workers.is_empty() {
            let took = read_private(&mut workers).await;
            reading_due = clock::now() + took * READING_PART;
        }
        server.dispatcher.lanes.split.note_workers(&workers);
    }
}

/// The generation of a worker, and what it has used. `None` for other processes, and for one that has not replied.
fn worker_cost(process: &ProcessStats) -> Option<(u32, WorkerCost)> {
    let said: WorkerStats = serde_json::from_str(process.json.as_deref()?).ok()?;
    let used = said.stats;
    let cost = WorkerCost {
        pid: process.pid,
        requests: used.lanes.iter().map(|lane| lane.served).sum(),
        cpu: Duration::try_from_secs_f64(used.cpu_seconds).ok()?,
        objects: used.allocated_objects,
        private: None,
    };
    Some((process.generation?, cost))
}

/// Reads the private memory of the workers, and returns how long that took.
async fn read_private(workers: &mut [(u32, WorkerCost)]) -> Duration {
    let pids: Vec<u32> = workers.iter().map(|(_, cost)| cost.pid).collect();
    let read = REPORT_THREAD.run(move || {
        let began = Instant::now();
        let private = pids.into_iter().map(|pid| Rollup::of(pid).ok());
        let private: Vec<_> = private.map(|it| Some(it?.private)).collect();
        (private, began.elapsed())
    });
    let (private, took) = read.await.unwrap_or_default();
    for ((_, cost), private) in workers.iter_mut().zip(private) {
        cost.private = private;
    }
    took
}

#[cfg(test)]
mod tests {
    use carat_supervisor::Role;

    use super::*;

    fn process(json: &str) -> ProcessStats {
        ProcessStats {
            role: Role::Worker,
            name: None,
            number: Some(1),
            generation: Some(3),
            pid: 42,
            requests: Some(9),
            json: Some(json.to_owned()),
        }
    }

    #[test]
    fn what_a_worker_says_is_read_and_anything_else_is_not() {
        let json = r#"{"gc":{},"stats":{"worker":1,"lanes":[{"capacity":1,"running":0,"served":7},{"served":5}],
            "cpu_seconds":1.5,"allocated_objects":900,"gc_count":2}}"#;
        let (generation, cost) = worker_cost(&process(json)).expect("a worker");
        assert_eq!((generation, cost.pid, cost.requests), (3, 42, 12));
        assert_eq!((cost.cpu, cost.objects), (Duration::from_millis(1500), 900));
        let endless = json.replace("1.5", "-1");
        for other in ["", "{}", r#"{"stats":null}"#, &endless] {
            assert_eq!(worker_cost(&process(other)), None);
        }
    }

    #[tokio::test]
    async fn private_memory_is_read_of_those_who_live() {
        let cost = |pid| {
            let (requests, cpu, objects, private) = (0, Duration::ZERO, 0, None);
            (
                3,
                WorkerCost {
                    pid,
                    requests,
                    cpu,
                    objects,
                    private,
                },
            )
        };
        let mut workers = [cost(std::process::id()), cost(u32::MAX)];
        read_private(&mut workers).await;
        assert!(workers[0].1.private > Some(0) && workers[1].1.private.is_none());
    }
}
