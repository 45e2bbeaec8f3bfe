use std::time::Instant;

use super::container::Container;
use super::rollup::Rollup;
use crate::supervise::command::MemorySubjects;
use crate::supervise::event::MemoryReading;

/// Reads the memory of the edge and of the other processes. The kernel walks each process for milliseconds: never on the
/// thread that serves the connections.
pub(crate) fn read_memory(subjects: MemorySubjects, container: &Container) -> MemoryReading {
    let at = Instant::now();
    let mut total = 0;
    let mut read = |pid| {
        let rollup = Rollup::of(pid).ok()?;
        total += rollup.pss + rollup.swap;
        Some(rollup)
    };
    read(std::process::id());
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
        total,
        mold,
        workers,
        container: container.memory(),
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
        let reading = read_memory(subjects, &Container::find(Path::new("/")));
        assert!(reading.total > 0);
        assert_eq!(reading.mold, None);
    }
}
