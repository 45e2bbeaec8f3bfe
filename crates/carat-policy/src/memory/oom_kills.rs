//! The processes that the OOM killer killed.

use std::time::{Duration, Instant};

/// The exit of a killed process is noticed within this time. An older kill concerned another process.
const EXIT_WAIT: Duration = Duration::from_secs(10);

/// The kernel counts the processes that its OOM killer kills, but does not name them. A process that died of SIGKILL
/// while the count rose is taken for one of them.
#[derive(Debug, Default)]
pub struct OomKills {
    /// How many kills are assigned to a dead process.
    known: u64,
    /// The last count.
    count: u64,
    /// When the count last rose.
    risen: Option<Instant>,
}

impl OomKills {
    /// Starts from the kernel's current count.
    pub fn since(count: u64) -> OomKills {
        OomKills {
            known: count,
            count,
            risen: None,
        }
    }

    /// Records the kernel's current count.
    pub fn note(&mut self, count: u64, now: Instant) {
        if count > self.count {
            self.risen = Some(now);
        }
        self.count = count;
        let is_past = |since| now.saturating_duration_since(since) > EXIT_WAIT;
        if self.risen.is_none_or(is_past) {
            self.known = count;
        }
    }

    /// Whether the OOM killer explains the death of a killed process. Each kill explains one death.
    pub fn explains(&mut self, count: u64, now: Instant) -> bool {
        self.note(count, now);
        let is_one = self.count > self.known;
        self.known += u64::from(is_one);
        is_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kill_explains_one_death() {
        let now = Instant::now();
        let mut kills = OomKills::since(5);
        assert!(!kills.explains(5, now));
        assert!(kills.explains(6, now));
        assert!(!kills.explains(6, now));
        assert!(kills.explains(8, now));
        assert!(kills.explains(8, now));
        assert!(!kills.explains(8, now));
    }

    #[test]
    fn a_count_that_rose_before_the_exit_was_seen_explains_it() {
        let now = Instant::now();
        let mut kills = OomKills::since(0);
        kills.note(1, now);
        assert!(kills.explains(1, now + EXIT_WAIT / 2));
    }

    #[test]
    fn a_count_that_rose_long_ago_was_another_process() {
        let now = Instant::now();
        let mut kills = OomKills::since(0);
        kills.note(1, now);
        assert!(!kills.explains(1, now + EXIT_WAIT * 2));
    }
}
