//! Whom the OOM killer has taken: plain counts and times.

use std::time::{Duration, Instant};

/// A process is seen to be dead within this time of being killed; afterwards it was none of those who are known.
const MOURNING: Duration = Duration::from_secs(10);

/// The kernel counts how many it has taken, and does not say whom: a process that was killed while the count has risen
/// was one of them.
#[derive(Debug, Default)]
pub(crate) struct OomKills {
    /// How many are accounted for.
    known: u64,
    /// The last count, and since when.
    count: u64,
    risen: Option<Instant>,
}

impl OomKills {
    /// Counting begins here.
    pub(crate) fn since(count: u64) -> OomKills {
        OomKills {
            known: count,
            count,
            risen: None,
        }
    }

    /// What the kernel counts now.
    pub(crate) fn note(&mut self, count: u64, now: Instant) {
        if count > self.count {
            self.risen = Some(now);
        }
        self.count = count;
        let is_past = |since| now.saturating_duration_since(since) > MOURNING;
        if self.risen.is_none_or(is_past) {
            self.known = count;
        }
    }

    /// Whether a process that was killed is one of those who were counted. Each is told once.
    pub(crate) fn explains(&mut self, count: u64, now: Instant) -> bool {
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
    fn a_kill_while_the_count_has_risen_is_explained_once() {
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
    fn a_count_that_was_read_before_the_death_was_seen_explains_it() {
        let now = Instant::now();
        let mut kills = OomKills::since(0);
        kills.note(1, now);
        assert!(kills.explains(1, now + MOURNING / 2));
    }

    #[test]
    fn a_count_that_rose_long_ago_was_somebody_else() {
        let now = Instant::now();
        let mut kills = OomKills::since(0);
        kills.note(1, now);
        assert!(!kills.explains(1, now + MOURNING * 2));
    }
}
