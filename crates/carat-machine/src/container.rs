use std::path::{Path, PathBuf};

use carat_policy::ContainerMemory;

use crate::cgroup::{Cgroup, CgroupVersion, read_entry, read_number};
use crate::machine::Machine;

/// A limit of this size or more means that there is no limit: version 1 writes 2^63 minus a page.
const NO_LIMIT: u64 = 1 << 60;

/// The control group of this process.
#[derive(Clone, PartialEq, Eq)]
pub struct Container {
    root: PathBuf,
    group: Option<Cgroup>,
}

impl Container {
    /// Finds the control group of this process. `root` is `/`.
    pub fn find(root: &Path) -> Container {
        Container {
            root: root.to_owned(),
            group: Cgroup::find(root, "memory"),
        }
    }

    /// Reads the memory limit of the group, and how much is used.
    pub fn memory(&self) -> ContainerMemory {
        let tightest = self.tightest();
        ContainerMemory {
            limit: tightest.map(|(_, limit)| limit),
            anonymous: tightest.and_then(|(level, _)| self.anonymous(level)),
            oom_kills: self.oom_kills(),
        }
    }

    /// How many processors the group may use.
    pub fn processors(&self) -> u32 {
        Machine::read(&self.root).processors
    }

    /// How many processes the OOM killer has killed in the group; on the whole machine if the kernel does not count by
    /// group.
    pub fn oom_kills(&self) -> u64 {
        let of_group = self.group.as_ref().and_then(|group| {
            let file = match group.version {
                CgroupVersion::One => "memory.oom_control",
                CgroupVersion::Two => "memory.events",
            };
            read_entry(&group.own().join(file), "oom_kill")
        });
        let of_machine = || read_entry(&self.root.join("proc/vmstat"), "oom_kill");
        of_group.or_else(of_machine).unwrap_or(0)
    }

    /// The level with the lowest limit, and the limit.
    fn tightest(&self) -> Option<(&Path, u64)> {
        let group = self.group.as_ref()?;
        let file = match group.version {
            CgroupVersion::One => "memory.limit_in_bytes",
            CgroupVersion::Two => "memory.max",
        };
        let limits = group.levels().filter_map(|level| {
            let limit = read_number::<u64>(&level.join(file))?;
            (limit < NO_LIMIT).then_some((level, limit))
        });
        limits.min_by_key(|(_, limit)| *limit)
    }

    fn anonymous(&self, level: &Path) -> Option<u64> {
        let version = self.group.as_ref()?.version;
        let stat = |name| read_entry(&level.join("memory.stat"), name);
        let (resident, swapped) = match version {
            CgroupVersion::One => (stat("total_rss")?, stat("total_swap")),
            CgroupVersion::Two => (
                stat("anon")?,
                read_number(&level.join("memory.swap.current")),
            ),
        };
        Some(resident + swapped.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recording;

    fn memory(recording: &Recording) -> ContainerMemory {
        Container::find(recording.root()).memory()
    }

    #[test]
    fn a_container_of_either_version_has_a_limit_and_anonymous_memory() {
        let expected = ContainerMemory {
            limit: Some(256 << 20),
            anonymous: Some(90_000_000 + 4096),
            oom_kills: 2,
        };
        assert_eq!(memory(&Recording::docker_v1()), expected);
        assert_eq!(memory(&Recording::docker_v2()), expected);
    }

    #[test]
    fn a_slice_with_a_limit_counts_all_of_its_processes() {
        let found = memory(&Recording::systemd_v2());
        assert_eq!(found.limit, Some(1 << 30));
        assert_eq!(found.anonymous, Some(700_000_000));
        assert_eq!(found.oom_kills, 1, "only those of the service");
    }

    #[test]
    fn the_smallest_limit_counts() {
        let recording = Recording::systemd_v2();
        let service = "sys/fs/cgroup/shop.slice/shop.service";
        recording.write(&format!("{service}/memory.max"), "536870912\n");
        let found = memory(&recording);
        assert_eq!(
            (found.limit, found.anonymous),
            (Some(1 << 29), Some(300_000_000))
        );
    }

    #[test]
    fn the_number_that_means_no_limit_is_none() {
        let found = memory(&Recording::hybrid());
        assert_eq!((found.limit, found.anonymous), (None, None));
    }

    #[test]
    fn kills_of_the_machine_count_where_the_group_has_no_count() {
        assert_eq!(memory(&Recording::hybrid()).oom_kills, 5);
        assert_eq!(memory(&Recording::bare()).oom_kills, 3);
    }

    #[test]
    fn the_machine_of_this_test_can_be_read() {
        let found = Container::find(Path::new("/")).memory();
        assert!(found.limit.is_none_or(|limit| limit > 0));
    }
}
