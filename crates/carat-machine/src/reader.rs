use std::time::Instant;

use carat_policy::EdgeMemory;

use crate::container::Container;
use crate::group::group_members;
use crate::rollup::Rollup;
use carat_supervisor::{AppProcessId, AppReading, MemoryReading, MemorySubjects};

/// Of how many processes of one group memory is read, which takes the kernel milliseconds for each.
const MEASURED_LIMIT: u32 = 1000;

/// Reads the memory of the edge, whose clients make it hold `clients` bytes, and of the other processes. The kernel walks
/// each process for milliseconds: never on the thread that serves the connections.
pub fn read_memory(subjects: MemorySubjects, clients: u64, container: &Container) -> MemoryReading {
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
        .and_then(|(generation, pid)| Some((generation, read(pid)?.anonymous)));
    let workers = subjects.workers.into_iter();
    let workers = workers
        .filter_map(|subject| Some((subject, read(subject.pid)?.private)))
        .collect();
    let apps = read_groups(&subjects.apps, read);
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
        apps,
        container: container.memory(),
        processors: container.processors(),
        took: at.elapsed(),
    }
}

/// The private memory of each group together, and how many are in it beside the first.
fn read_groups(
    apps: &[(AppProcessId, u32)],
    mut read: impl FnMut(u32) -> Option<Rollup>,
) -> Vec<AppReading> {
    let groups: Vec<u32> = apps.iter().map(|(_, group)| *group).collect();
    let empty = |(id, _): &(AppProcessId, u32)| AppReading {
        id: *id,
        private: 0,
        saved: 0,
        descendants: 0,
    };
    let mut sums: Vec<_> = apps.iter().map(empty).collect();
    for (group, pid) in group_members(&groups) {
        let index = groups.iter().position(|it| *it == group);
        let Some(sum) = index.and_then(|index| sums.get_mut(index)) else {
            continue;
        };
        sum.descendants += u32::from(pid != group);
        // The first ones say enough of a group that has too many.
        if sum.descendants <= MEASURED_LIMIT {
            let rollup = read(pid).unwrap_or_default();
            sum.private += rollup.private;
            sum.saved += rollup.anonymous.saturating_sub(rollup.anonymous_pss);
        }
    }
    sums
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
            apps: Vec::new(),
            others: vec![u32::MAX],
        };
        let reading = read_memory(subjects, 7, &Container::find(Path::new("/")));
        assert!(reading.edge.total > 0 && reading.edge.anonymous > 0);
        assert_eq!((reading.edge.clients, reading.ruby), (7, 0));
        assert_eq!(reading.mold, None);
    }
}
