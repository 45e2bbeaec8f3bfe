use std::io;

/// The memory of one process in bytes, as `/proc/PID/smaps_rollup` adds it up (`proc_pid_smaps(5)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rollup {
    /// Resident memory.
    pub rss: u64,
    /// Resident memory, with each shared page divided by the number of processes that share it.
    pub pss: u64,
    /// Resident memory that no other process shares.
    pub private: u64,
    /// Resident memory that no file backs.
    pub anonymous: u64,
    /// The part of `pss` that is not backed by a file.
    pub anonymous_pss: u64,
    /// Swapped-out memory, with shared pages divided as in `pss`.
    pub swap: u64,
}

impl Rollup {
    /// Reads the memory of a process. The kernel walks the whole process, which takes milliseconds: never call it on
    /// the thread that serves the connections. The error for a dead process, reaped or not, is `NotFound`.
    pub fn of(pid: u32) -> io::Result<Rollup> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).map_err(gone)?;
        Rollup::parse(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn parse(text: &str) -> Option<Rollup> {
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            let kilobytes = line.trim().strip_suffix(" kB")?;
            kilobytes.parse::<u64>().ok().map(|size| size * 1024)
        };
        let pss = bytes("Pss:")?;
        Some(Rollup {
            rss: bytes("Rss:")?,
            pss,
            private: bytes("Private_Clean:")? + bytes("Private_Dirty:")?,
            anonymous: bytes("Anonymous:")?,
            // The field exists from Linux 5.9 on.
            anonymous_pss: bytes("Pss_Anon:").unwrap_or(pss),
            swap: bytes("SwapPss:").unwrap_or(0),
        })
    }

    /// Resident memory that other processes share.
    pub fn shared(&self) -> u64 {
        self.rss.saturating_sub(self.private)
    }
}

/// Maps the error for a process that ends during the reading to `NotFound`, the error for one that ended before.
fn gone(error: io::Error) -> io::Error {
    if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) {
        io::ErrorKind::NotFound.into()
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
5562fce44000-7fffdee53000 ---p 00000000 00:00 0                          [rollup]
Rss:                1620 kB
Pss:                 200 kB
Pss_Dirty:           112 kB
Pss_Anon:            110 kB
Pss_File:             90 kB
Shared_Clean:       1400 kB
Shared_Dirty:         60 kB
Private_Clean:        48 kB
Private_Dirty:       112 kB
Anonymous:           114 kB
Swap:                 40 kB
SwapPss:              20 kB
";

    #[test]
    fn sizes_are_read_in_bytes() {
        let rollup = Rollup::parse(TEXT).expect("well formed");
        let expected = Rollup {
            rss: 1620 * 1024,
            pss: 200 * 1024,
            private: 160 * 1024,
            anonymous: 114 * 1024,
            anonymous_pss: 110 * 1024,
            swap: 20 * 1024,
        };
        assert_eq!(rollup, expected);
        assert_eq!(rollup.shared(), 1460 * 1024);
    }

    #[test]
    fn what_older_kernels_do_not_tell_is_taken_for_the_least() {
        let text = TEXT
            .replace("Pss_Anon:", "Other:")
            .replace("SwapPss:", "Other:");
        let rollup = Rollup::parse(&text).expect("well formed");
        assert_eq!((rollup.anonymous_pss, rollup.swap), (rollup.pss, 0));
    }

    #[test]
    fn a_text_without_sizes_is_no_rollup() {
        assert_eq!(Rollup::parse(""), None);
        assert_eq!(Rollup::parse("Pss: many kB\n"), None);
    }

    #[test]
    fn this_process_weighs_something_and_one_that_is_not_there_is_not_found() {
        let own = Rollup::of(std::process::id()).expect("readable");
        assert!(own.private > 0 && own.pss >= own.private && own.rss >= own.pss);
        let error = Rollup::of(u32::MAX).expect_err("no such process");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
