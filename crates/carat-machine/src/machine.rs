use std::fs;
use std::path::Path;

use crate::cgroup::{Cgroup, CgroupVersion, read_number};

/// The part of the machine that this process may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// The number of processors; at least one.
    pub processors: u32,
    /// The machine's memory in bytes; `None` where the kernel does not say.
    pub memory: Option<u64>,
}

impl Machine {
    /// Reads the files of the kernel. `root` is `/`.
    pub fn read(root: &Path) -> Machine {
        Machine {
            processors: processors(affine(), quota(root)),
            memory: memory(root),
        }
    }
}

/// The number of processors. A part of a processor counts as one, because a worker often waits.
fn processors(affine: u32, quota: Option<f64>) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few, and at least one"
    )]
    let whole = |share: f64| share.ceil().max(1.0) as u32;
    quota
        .map_or(affine, |share| whole(share).min(affine))
        .max(1)
}

/// How many processors this process may run on.
fn affine() -> u32 {
    rustix::thread::sched_getaffinity(None).map_or(1, |set| set.count())
}

/// How many processors the control group may use, by its CPU quota.
fn quota(root: &Path) -> Option<f64> {
    let group = Cgroup::find(root, "cpu")?;
    let quotas = group.levels().filter_map(|level| match group.version {
        CgroupVersion::One => {
            let quota = read_number::<f64>(&level.join("cpu.cfs_quota_us"))?;
            ratio(quota, read_number(&level.join("cpu.cfs_period_us"))?)
        }
        CgroupVersion::Two => {
            let text = fs::read_to_string(level.join("cpu.max")).ok()?;
            let (quota, period) = text.trim().split_once(' ')?;
            ratio(quota.parse().ok()?, period.parse().ok()?)
        }
    });
    quotas.min_by(f64::total_cmp)
}

/// The quota in processors; `None` without a quota, for which version 1 writes -1.
fn ratio(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

fn memory(root: &Path) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recording;

    #[test]
    fn a_quota_is_a_share_of_processors_in_either_version() {
        assert_eq!(quota(Recording::docker_v1().root()), Some(1.5));
        assert_eq!(quota(Recording::docker_v2().root()), Some(1.5));
    }

    #[test]
    fn no_quota_is_none() {
        assert_eq!(quota(Recording::systemd_v2().root()), None);
        assert_eq!(quota(Recording::bare().root()), None);
        let recording = Recording::docker_v1();
        recording.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
        assert_eq!(quota(recording.root()), None);
    }

    #[test]
    fn the_lowest_quota_above_counts() {
        let recording = Recording::systemd_v2();
        recording.write("sys/fs/cgroup/shop.slice/cpu.max", "200000 100000\n");
        let service = "sys/fs/cgroup/shop.slice/shop.service/cpu.max";
        recording.write(service, "300000 100000\n");
        assert_eq!(quota(recording.root()), Some(2.0));
    }

    #[test]
    fn processors_are_rounded_up_and_at_least_one() {
        assert_eq!(processors(8, Some(1.5)), 2);
        assert_eq!(processors(8, Some(0.1)), 1);
        assert_eq!(processors(2, Some(6.0)), 2);
        assert_eq!(processors(2, None), 2);
        assert_eq!(processors(0, None), 1);
    }

    #[test]
    fn memory_is_the_total_of_the_machine() {
        assert_eq!(memory(Recording::bare().root()), Some(2_048_000 * 1024));
        let here = Machine::read(Path::new("/"));
        assert!(here.processors >= 1 && here.memory > Some(1 << 20));
    }
}
