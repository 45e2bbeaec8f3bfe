use std::path::{Path, PathBuf};

use super::cgroup::{Cgroup, Version, read_entry, read_number};

/// From here on a limit means none: the first version says 2^63 less a page.
const NO_LIMIT: u64 = 1 << 60;

/// The memory that the control group of this process may have, and has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Container {
    root: PathBuf,
    group: Option<Cgroup>,
}

/// How a container stood when it was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Filling {
    pub(crate) limit: Option<u64>,
    /// What is in memory or swapped out and no file backs, of all who share the limit. The page cache does not count:
    /// the kernel drops it before it kills.
    pub(crate) anonymous: Option<u64>,
    /// How many processes the OOM killer has taken.
    pub(crate) oom_kills: u64,
}

impl Container {
    /// That of this process; `root` is `/`.
    pub(crate) fn find(root: &Path) -> Container {
        Container {
            root: root.to_owned(),
            group: Cgroup::find(root, "memory"),
        }
    }

    /// Looks at all of it.
    pub(crate) fn filling(&self) -> Filling {
        let tightest = self.tightest();
        Filling {
            limit: tightest.map(|(_, limit)| limit),
            anonymous: tightest.and_then(|(level, _)| self.anonymous(level)),
            oom_kills: self.oom_kills(),
        }
    }

    /// How many processes the OOM killer has taken from it, or from the machine where that is not told.
    pub(crate) fn oom_kills(&self) -> u64 {
        let of_group = self.group.as_ref().and_then(|group| {
            let file = match group.version {
                Version::One => "memory.oom_control",
                Version::Two => "memory.events",
            };
            read_entry(&group.own().join(file), "oom_kill")
        });
        let of_machine = || read_entry(&self.root.join("proc/vmstat"), "oom_kill");
        of_group.or_else(of_machine).unwrap_or(0)
    }

    /// The level with the smallest limit, and that.
    fn tightest(&self) -> Option<(&Path, u64)> {
        let group = self.group.as_ref()?;
        let file = match group.version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
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
            Version::One => (stat("total_rss")?, stat("total_swap")),
            Version::Two => (
                stat("anon")?,
                read_number(&level.join("memory.swap.current")),
            ),
        };
        Some(resident + swapped.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::recording::Recording;
    use super::*;

    fn filling(recording: &Recording) -> Filling {
        Container::find(recording.root()).filling()
    }

    #[test]
    fn a_container_of_either_version_has_a_limit_and_what_no_file_backs() {
        let expected = Filling {
            limit: Some(256 << 20),
            anonymous: Some(90_000_000 + 4096),
            oom_kills: 2,
        };
        assert_eq!(filling(&Recording::docker_v1()), expected);
        assert_eq!(filling(&Recording::docker_v2()), expected);
    }

    #[test]
    fn a_slice_with_a_limit_counts_with_all_that_is_in_it() {
        let found = filling(&Recording::systemd_v2());
        assert_eq!(found.limit, Some(1 << 30));
        assert_eq!(found.anonymous, Some(700_000_000));
        assert_eq!(found.oom_kills, 1, "those of the service alone");
    }

    #[test]
    fn the_smallest_limit_counts() {
        let recording = Recording::systemd_v2();
        let service = "sys/fs/cgroup/shop.slice/shop.service";
        recording.write(&format!("{service}/memory.max"), "536870912\n");
        let found = filling(&recording);
        assert_eq!(
            (found.limit, found.anonymous),
            (Some(1 << 29), Some(300_000_000))
        );
    }

    #[test]
    fn what_the_kernel_writes_for_no_limit_is_none() {
        let found = filling(&Recording::hybrid());
        assert_eq!((found.limit, found.anonymous), (None, None));
    }

    #[test]
    fn a_kernel_that_does_not_count_kills_by_group_counts_them_for_the_machine() {
        assert_eq!(filling(&Recording::hybrid()).oom_kills, 5);
        assert_eq!(filling(&Recording::bare()).oom_kills, 3);
    }

    #[test]
    fn the_machine_of_this_test_can_be_looked_at() {
        let found = Container::find(Path::new("/")).filling();
        assert!(found.limit.is_none_or(|limit| limit > 0));
    }
}
