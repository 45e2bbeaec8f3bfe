use std::time::Instant;

use carat_policy::EdgeMemory;

use super::container::Container;
use super::rollup::Rollup;
use carat_supervisor::{MemoryReading, MemorySubjects};

/// Reads the memory of the edge, whose clients make it hold `clients` bytes, and of the other processes. The kernel walks each process for milliseconds: never on the
/// thread that serves the connections.
pub(crate) fn read_memory(
    subjects: MemorySubjects,
    clients: u64,
    container: &Container,
) -> MemoryReading {
    let at = Instant::now();
    let edge = Rollup::of(std::process::id()).unwrap_or_default();
    let mut ruby = 0;
    let mut read = |pid| {
        let rollup = Rollup::of(pid).ok()?;
        ruby += rollup.pss + rollup.swap;
        Some(rollup)
    };
    for pid in subjects.others {
        read(pid);
    }
    let mold = subjects
        .mold
        .and_then(|(generation, pid)| Some((generation, read(pid)?.anonymous_pss)));
    let workers = subjects.workers.into_iter();
    let workers = workers
        .filter_map(|subject| Some((subject, read(subject.pid)?.private)))
        .collect();
    MemoryReading {
        at,
        edge: EdgeMemory {
            total: edge.pss + edge.swap,
            anonymous: edge.anonymous + edge.swap,
            clients,
        },
        ruby,
        mold,
        workers,
        container: container.memory(),
        processors: container.processors(),
        took: at.elapsed(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_reading_includes_the_edge_and_skips_processes_that_are_gone() {
        let subjects = MemorySubjects {
            mold: Some((1, u32::MAX)),
            workers: Vec::new(),
            others: vec![u32::MAX],
        };
        let reading = read_memory(subjects, 7, &Container::find(Path::new("/")));
        assert!(reading.edge.total > 0 && reading.edge.anonymous > 0);
        assert_eq!((reading.edge.clients, reading.ruby), (7, 0));
        assert_eq!(reading.mold, None);
    }
}
