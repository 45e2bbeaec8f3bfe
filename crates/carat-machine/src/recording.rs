//! Files of the kernel, recorded on machines that these tests do not have.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A root directory with some of the files of a machine.
pub(crate) struct Recording(TempDir);

impl Recording {
    fn new(files: &[(&str, &str)]) -> Recording {
        let recording = Recording(tempfile::tempdir().expect("a directory"));
        for (path, text) in files {
            recording.write(path, text);
        }
        recording
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// A machine whose kernel has no control groups.
    pub(crate) fn bare() -> Recording {
        Recording::new(&[
            (
                "proc/self/mountinfo",
                "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
            ),
            (
                "proc/meminfo",
                "MemTotal:        2048000 kB\nMemFree:         1024000 kB\n",
            ),
            ("proc/vmstat", "nr_free_pages 25000\noom_kill 3\n"),
        ])
    }

    /// `docker run -m 256m --cpus 1.5` where the container sees the host's paths.
    pub(crate) fn docker_v1() -> Recording {
        const ID: &str = "/docker/8f1c";
        let cgroup = format!("9:memory:{ID}\n4:cpu,cpuacct:{ID}\n1:name=systemd:{ID}\n0::/\n");
        let mounts = format!(
            "706 700 0:27 / /proc rw - proc proc rw\n\
             715 706 0:31 {ID} /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:9 - cgroup cgroup rw,cpu,cpuacct\n\
             716 706 0:35 {ID} /sys/fs/cgroup/memory ro,nosuid master:16 - cgroup cgroup rw,memory\n"
        );
        Recording::new(&[
            ("proc/self/cgroup", &cgroup),
            ("proc/self/mountinfo", &mounts),
            ("proc/meminfo", "MemTotal:       16384000 kB\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "250000000\n"),
            (
                "sys/fs/cgroup/memory/memory.stat",
                "cache 150000000\nrss 80000000\nswap 0\ntotal_cache 150000000\n\
                 total_rss 90000000\ntotal_swap 4096\n",
            ),
            (
                "sys/fs/cgroup/memory/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            ),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ])
    }

    /// `docker run -m 256m --cpus 1.5` with a namespace of its own.
    pub(crate) fn docker_v2() -> Recording {
        Recording::new(&[
            ("proc/self/cgroup", "0::/\n"),
            (
                "proc/self/mountinfo",
                "716 706 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
            ),
            ("proc/meminfo", "MemTotal:       16384000 kB\n"),
            ("sys/fs/cgroup/memory.max", "268435456\n"),
            ("sys/fs/cgroup/memory.current", "250000000\n"),
            ("sys/fs/cgroup/memory.swap.current", "4096\n"),
            (
                "sys/fs/cgroup/memory.stat",
                "anon 90000000\nfile 150000000\nkernel 4000000\n",
            ),
            (
                "sys/fs/cgroup/memory.events",
                "low 0\nhigh 0\nmax 80\noom 2\noom_kill 2\n",
            ),
            ("sys/fs/cgroup/cpu.max", "150000 100000\n"),
        ])
    }

    /// A service without a limit in a slice with one.
    pub(crate) fn systemd_v2() -> Recording {
        Recording::new(&[
            ("proc/self/cgroup", "0::/shop.slice/shop.service\n"),
            (
                "proc/self/mountinfo",
                "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
            ),
            ("proc/meminfo", "MemTotal:       16384000 kB\n"),
            ("sys/fs/cgroup/shop.slice/memory.max", "1073741824\n"),
            (
                "sys/fs/cgroup/shop.slice/memory.stat",
                "anon 700000000\nfile 1\n",
            ),
            ("sys/fs/cgroup/shop.slice/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/shop.slice/shop.service/memory.max", "max\n"),
            (
                "sys/fs/cgroup/shop.slice/shop.service/memory.stat",
                "anon 300000000\nfile 1\n",
            ),
            (
                "sys/fs/cgroup/shop.slice/shop.service/memory.swap.current",
                "0\n",
            ),
            (
                "sys/fs/cgroup/shop.slice/shop.service/memory.events",
                "oom 0\noom_kill 1\n",
            ),
        ])
    }

    /// A service on a machine with both versions of control groups. Its limit is the number by which the kernel means
    /// that there is none.
    pub(crate) fn hybrid() -> Recording {
        let directory = "sys/fs/cgroup/memory/system.slice/shop.service";
        let limit = format!("{directory}/memory.limit_in_bytes");
        let control = format!("{directory}/memory.oom_control");
        Recording::new(&[
            (
                "proc/self/cgroup",
                "5:memory:/system.slice/shop.service\n0::/system.slice/shop.service\n",
            ),
            (
                "proc/self/mountinfo",
                "31 23 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                 35 23 0:31 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n",
            ),
            ("proc/meminfo", "MemTotal:       16384000 kB\n"),
            (&limit, "9223372036854771712\n"),
            (&control, "oom_kill_disable 0\nunder_oom 0\n"),
            ("proc/vmstat", "oom_kill 5\n"),
        ])
    }
}
