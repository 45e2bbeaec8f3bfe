use std::time::Instant;

use carat_policy::EdgeMemory;

use crate::container::Container;
use crate::group::group_members;
use crate::rollup::Rollup;
use carat_supervisor::{AppReading, AppSubject, MemoryReading, MemorySubjects, ProcessMemory};

/// The most processes of one group whose memory is read: each takes the kernel milliseconds.
const MEASURED_LIMIT: u32 = 1000;

/// Reads the memory of the edge and of the other processes. Clients make the edge hold `clients` bytes. The kernel
/// walks each process for milliseconds, so never call this on the thread that serves the connections.
pub fn read_memory(subjects: MemorySubjects, clients: u64, container: &Container) -> MemoryReading {
    let at = Instant::now();
    let edge = Rollup::of(std::process::id()).unwrap_or_default();
    let mut processes = Vec::new();
    add(&mut processes, "edge", std::process::id(), &edge);
    let mut ruby = 0;
    let mut read = |kind, owner, pid| {
        let rollup = Rollup::of(pid).ok()?;
        // Pages of files do not count, because the kernel takes them back before it kills a process.
        ruby += rollup.anonymous_pss + rollup.swap;
        add(&mut processes, kind, owner, &rollup);
        Some(rollup)
    };
    for pid in subjects.others {
        read("mold", pid, pid);
    }
    let mold_peak = subjects.mold.and_then(|(_, pid)| anonymous_peak(pid));
    let mold = subjects
        .mold
        .and_then(|(generation, pid)| Some((generation, read("mold", pid, pid)?.anonymous)));
    let workers = subjects.workers.into_iter();
    let mut private = |pid| Some(read("worker", pid, pid)?.private);
    let workers = workers
        .filter_map(|subject| Some((subject, private(subject.pid)?)))
        .collect();
    let apps = read_groups(&subjects.apps, |group, pid| read("app", group, pid));
    MemoryReading {
        at,
        edge: EdgeMemory {
            total: edge.pss + edge.swap,
            anonymous: edge.anonymous + edge.swap,
            clients,
        },
        ruby,
        mold,
        mold_peak,
        workers,
        apps,
        processes,
        container: container.memory(),
        processors: container.processors(),
        took: at.elapsed(),
    }
}

/// The peak of a process's anonymous memory in bytes. The result assumes that as many pages of files were resident at
/// the peak as now.
fn anonymous_peak(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
        Some(kilobytes * 1024)
    };
    let of_files = bytes("RssFile:")? + bytes("RssShmem:")?;
    Some(bytes("VmHWM:")?.saturating_sub(of_files))
}

/// Adds a process to the list, or to the process that it belongs to.
fn add(processes: &mut Vec<ProcessMemory>, kind: &'static str, pid: u32, rollup: &Rollup) {
    let sum = match processes.iter().position(|it| it.pid == pid) {
        Some(index) => processes.swap_remove(index),
        None => ProcessMemory {
            kind,
            pid,
            pss: 0,
            private: 0,
            shared: 0,
        },
    };
    processes.push(ProcessMemory {
        pss: sum.pss + rollup.pss,
        private: sum.private + rollup.private,
        shared: sum.shared + rollup.shared(),
        ..sum
    });
}

/// The memory of each group, and how many processes are in it besides the first.
fn read_groups(
    apps: &[AppSubject],
    mut read: impl FnMut(u32, u32) -> Option<Rollup>,
) -> Vec<AppReading> {
    let groups: Vec<u32> = apps.iter().map(|it| it.group).collect();
    let empty = |app: &AppSubject| AppReading {
        id: app.id,
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
        // If a group has too many processes, only the first ones are read.
        if sum.descendants <= MEASURED_LIMIT {
            let rollup = read(group, pid).unwrap_or_default();
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
    fn the_peak_of_this_process_is_not_below_what_it_has() {
        let peak = anonymous_peak(std::process::id()).expect("this process runs");
        let block = vec![1_u8; 8 << 20];
        let now = anonymous_peak(std::process::id()).expect("this process runs");
        assert!(peak > 0 && now >= peak && block.len() == 8 << 20);
        assert_eq!(anonymous_peak(u32::MAX), None);
    }

    #[test]
    fn what_a_process_has_forked_adds_to_its_memory() {
        let rollup = Rollup {
            rss: 10,
            pss: 7,
            private: 4,
            ..Rollup::default()
        };
        let mut processes = Vec::new();
        for pid in [42, 43, 42] {
            add(&mut processes, "app", pid, &rollup);
        }
        let sums = processes
            .iter()
            .map(|it| (it.pid, it.pss, it.private, it.shared));
        assert_eq!(sums.collect::<Vec<_>>(), [(43, 7, 4, 6), (42, 14, 8, 12)]);
    }

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
        let kinds: Vec<_> = reading.processes.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, ["edge"]);
    }
}
