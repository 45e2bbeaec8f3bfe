use std::fs;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

/// The version of a cgroup hierarchy, which determines its files (cgroups(7)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CgroupVersion {
    One,
    Two,
}

/// The control group of this process, as far as this process can see it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Cgroup {
    pub(crate) version: CgroupVersion,
    /// Where the hierarchy is mounted.
    top: PathBuf,
    /// The group's own directory, at or below `top`.
    own: PathBuf,
}

impl Cgroup {
    /// Finds the group of a controller (`memory`, `cpu`); `None` if there is none. `root` is `/`.
    pub(crate) fn find(root: &Path, controller: &str) -> Option<Cgroup> {
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
        let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
        let (version, path) = membership(&groups, controller)?;
        let mut mounts = mounts.lines().filter_map(Mount::parse);
        let mount = mounts.find(|mount| mount.carries(version, controller))?;
        let top = root.join(mount.point.trim_start_matches('/'));
        let own = existing(&top, &mount.below(path));
        Some(Cgroup { version, top, own })
    }

    /// The group's own directory and the directories above it, whose limits apply, too.
    pub(crate) fn levels(&self) -> impl Iterator<Item = &Path> {
        let levels = self.own.ancestors();
        levels.take_while(|level| level.starts_with(&self.top))
    }

    /// The group's own directory.
    pub(crate) fn own(&self) -> &Path {
        &self.own
    }
}

/// The number in a file that contains nothing else.
pub(crate) fn read_number<T: FromStr>(path: &Path) -> Option<T> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The number behind a name in a file of lines such as `anon 4096`.
pub(crate) fn read_entry(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
    let (_, number) = pairs.find(|(found, _)| *found == name)?;
    number.trim().parse().ok()
}

/// The version of the hierarchy that has the controller, and the group's path in it: from a line such as
/// `4:memory:/docker/42`, or else `0::/system.slice/x.service`.
fn membership<'a>(groups: &'a str, controller: &str) -> Option<(CgroupVersion, &'a str)> {
    let fields = |line: &'a str| {
        let mut fields = line.splitn(3, ':').skip(1);
        Some((fields.next()?, fields.next()?))
    };
    let lines = || groups.lines().filter_map(fields);
    let first = lines().find(|(names, _)| names.split(',').any(|name| name == controller));
    let second = || lines().find(|(names, _)| names.is_empty());
    first
        .map(|(_, path)| (CgroupVersion::One, path))
        .or_else(|| second().map(|(_, path)| (CgroupVersion::Two, path)))
}

/// A line of `/proc/self/mountinfo`, see `proc_pid_mountinfo(5)`.
#[derive(PartialEq, Eq)]
struct Mount<'a> {
    /// The directory of the hierarchy that is mounted at `point`.
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Mount<'a>> {
        let (near, far) = line.split_once(" - ")?;
        let mut near = near.split(' ').skip(3);
        let mut far = far.split(' ');
        Some(Mount {
            root: near.next()?,
            point: near.next()?,
            kind: far.next()?,
            options: far.nth(1)?,
        })
    }

    fn carries(&self, version: CgroupVersion, controller: &str) -> bool {
        match version {
            CgroupVersion::One => {
                self.kind == "cgroup" && self.options.split(',').any(|name| name == controller)
            }
            CgroupVersion::Two => self.kind == "cgroup2",
        }
    }

    /// A path relative to the mounted directory. A container often sees the path that the group has on the host, while
    /// the group's directory is at the top of the mount.
    fn below(&self, path: &str) -> PathBuf {
        let path = Path::new(path);
        let inner = path.strip_prefix(self.root).unwrap_or(path);
        let is_plain = |part: &Component<'_>| !matches!(part, Component::ParentDir);
        if inner.components().all(|part| is_plain(&part)) {
            inner.strip_prefix("/").unwrap_or(inner).to_owned()
        } else {
            PathBuf::new()
        }
    }
}

/// The directory with this path below `top`, or the nearest one above it that exists.
fn existing(top: &Path, path: &Path) -> PathBuf {
    let found = path.ancestors().map(|part| top.join(part));
    let mut found = found.filter(|directory| directory.is_dir());
    // Joining an empty path would append a slash.
    found.next().map_or_else(
        || top.to_owned(),
        |directory| directory.components().collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recording;

    fn own(recording: &Recording, controller: &str) -> Option<(CgroupVersion, String)> {
        let group = Cgroup::find(recording.root(), controller)?;
        let own = group.own().strip_prefix(recording.root());
        let own = own.expect("below the root").display().to_string();
        Some((group.version, own))
    }

    #[test]
    fn a_container_that_sees_the_hosts_path_is_at_the_top() {
        let found = own(&Recording::docker_v1(), "memory");
        assert_eq!(
            found,
            Some((CgroupVersion::One, "sys/fs/cgroup/memory".into()))
        );
    }

    #[test]
    fn controllers_that_are_mounted_together_are_found() {
        let found = own(&Recording::docker_v1(), "cpu");
        assert_eq!(
            found,
            Some((CgroupVersion::One, "sys/fs/cgroup/cpu,cpuacct".into()))
        );
    }

    #[test]
    fn a_container_with_a_namespace_is_at_the_top() {
        let found = own(&Recording::docker_v2(), "memory");
        assert_eq!(found, Some((CgroupVersion::Two, "sys/fs/cgroup".into())));
    }

    #[test]
    fn a_service_is_below_its_slice() {
        let recording = Recording::systemd_v2();
        let group = Cgroup::find(recording.root(), "memory").expect("a group");
        let names = group
            .levels()
            .map(|level| level.file_name().expect("a name"));
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        assert_eq!(names, ["shop.service", "shop.slice", "cgroup"]);
    }

    #[test]
    fn a_hybrid_hierarchy_has_memory_in_the_first_version() {
        let found = own(&Recording::hybrid(), "memory");
        let own = "sys/fs/cgroup/memory/system.slice/shop.service";
        assert_eq!(found, Some((CgroupVersion::One, own.into())));
    }

    #[test]
    fn a_missing_path_means_the_nearest_one_above() {
        let recording = Recording::systemd_v2();
        recording.write("proc/self/cgroup", "0::/shop.slice/gone.service/inner\n");
        let found = own(&recording, "memory");
        assert_eq!(
            found,
            Some((CgroupVersion::Two, "sys/fs/cgroup/shop.slice".into()))
        );
        recording.write("proc/self/cgroup", "0::/../outside\n");
        let found = own(&recording, "memory");
        assert_eq!(found, Some((CgroupVersion::Two, "sys/fs/cgroup".into())));
    }

    #[test]
    fn a_machine_without_groups_has_none() {
        assert_eq!(own(&Recording::bare(), "memory"), None);
        let recording = Recording::docker_v1();
        recording.write("proc/self/mountinfo", "");
        assert_eq!(own(&recording, "memory"), None);
    }
}
