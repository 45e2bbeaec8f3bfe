use serde::Deserialize;

/// How a restart divides requests between the new code and the old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanaryRule {
    /// Below 100; 0 for a restart that does not wait.
    pub percent: u8,
    /// What is counted.
    pub unit: CanaryUnit,
    /// Whether the server decides.
    pub judges: bool,
}

/// What the share is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CanaryUnit {
    /// Each request is counted.
    Request,
    /// A client stays with the code that its first request got, by a cookie.
    #[serde(rename = "cookie")]
    Client,
}

impl CanaryRule {
    /// All requests go to the same code.
    pub const NONE: CanaryRule = CanaryRule {
        percent: 0,
        unit: CanaryUnit::Request,
        judges: false,
    };

    /// Whether the restart waits.
    pub fn holds(self) -> bool {
        self.percent > 0
    }

    /// How many workers of the new code the share needs beside this many of the old.
    pub fn workers(self, wanted: u32) -> u32 {
        let needed = (u64::from(wanted) * u64::from(self.percent)).div_ceil(100);
        u32::try_from(needed).unwrap_or(u32::MAX).max(1)
    }

    /// The part of the queue that requests for the new code may fill: those who choose it must not crowd out others.
    pub fn queue_part(self, queue_limit: usize) -> usize {
        (queue_limit.saturating_mul(usize::from(self.percent)) / 100).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(percent: u8) -> CanaryRule {
        CanaryRule {
            percent,
            ..CanaryRule::NONE
        }
    }

    #[test]
    fn a_share_has_at_least_one_worker_and_one_seat() {
        assert_eq!([1, 2, 20].map(|it| rule(10).workers(it)), [1, 1, 2]);
        assert_eq!([1, 2, 5].map(|it| rule(50).workers(it)), [1, 1, 3]);
        assert_eq!(rule(1).workers(u32::MAX), 42_949_673);
        assert_eq!([1, 1024].map(|it| rule(10).queue_part(it)), [1, 102]);
    }

    #[test]
    fn without_a_share_the_restart_does_not_wait() {
        assert!(!CanaryRule::NONE.holds());
        assert!(rule(1).holds());
    }
}
