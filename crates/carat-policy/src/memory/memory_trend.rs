//! How an amount of memory changes over time.

use std::time::Instant;

use crate::MemoryApproach;

/// An amount is too large after this many consecutive readings above its limit.
const READINGS: u32 = 3;

/// An amount of memory that is read repeatedly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTrend {
    /// The last reading.
    pub bytes: u64,
    /// The highest reading.
    pub highest: u64,
    /// Growth in bytes per second between the last two readings.
    rate: f64,
    at: Instant,
    /// Consecutive readings above the limit.
    above: u32,
    /// Whether the first reading exceeded the limit.
    began_above: bool,
}

impl MemoryTrend {
    /// The trend after one more reading.
    pub fn after(before: Option<MemoryTrend>, bytes: u64, limit: u64, at: Instant) -> MemoryTrend {
        let is_above = bytes > limit;
        let above = before.map_or(0, |before| before.above);
        MemoryTrend {
            bytes,
            highest: before.map_or(bytes, |before| before.highest.max(bytes)),
            rate: before.map_or(0.0, |before| before.rate_to(bytes, at)),
            at,
            above: if is_above { above + 1 } else { 0 },
            began_above: before.map_or(is_above, |before| before.began_above),
        }
    }

    /// Whether the amount has exceeded its limit long enough to act.
    pub fn is_too_much(&self) -> bool {
        self.above >= READINGS
    }

    /// Whether the first reading exceeded the limit. The first reading of a replacement would exceed it, too.
    pub fn began_too_much(&self) -> bool {
        self.began_above
    }

    /// The trend after an action: the consecutive readings start from zero.
    #[must_use]
    pub fn restarted(self) -> MemoryTrend {
        MemoryTrend { above: 0, ..self }
    }

    /// How the amount approaches this limit.
    pub fn approach(&self, limit: u64) -> MemoryApproach {
        MemoryApproach {
            bytes: self.bytes,
            rate: self.rate,
            limit,
            is_too_much: self.is_too_much(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate of bytes")]
    fn rate_to(&self, bytes: u64, at: Instant) -> f64 {
        let seconds = at.saturating_duration_since(self.at).as_secs_f64();
        bytes.saturating_sub(self.bytes) as f64 / seconds.max(0.001)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The trend of readings one second apart, with a limit of 100.
    fn trend(readings: &[u64]) -> MemoryTrend {
        let start = Instant::now();
        let times = (0..).map(|second| start + Duration::from_secs(second));
        let trend = readings
            .iter()
            .zip(times)
            .fold(None, |before, (&bytes, at)| {
                Some(MemoryTrend::after(before, bytes, 100, at))
            });
        trend.expect("a reading")
    }

    #[test]
    fn three_readings_in_a_row_above_the_limit_are_too_much() {
        assert!(!trend(&[50, 101, 102]).is_too_much());
        assert!(trend(&[50, 101, 102, 103]).is_too_much());
        assert!(trend(&[50, 101, 102, 103, 104]).is_too_much());
    }

    #[test]
    fn one_reading_within_the_limit_resets_the_count() {
        assert!(!trend(&[101, 102, 100, 101, 102]).is_too_much());
        assert!(!trend(&[101, 102, 103, 100]).is_too_much());
    }

    #[test]
    fn after_an_action_the_count_starts_from_zero() {
        let later = Instant::now() + Duration::from_secs(9);
        let restarted = trend(&[101, 102, 103]).restarted();
        assert!(!restarted.is_too_much());
        assert!(!MemoryTrend::after(Some(restarted), 104, 100, later).is_too_much());
    }

    #[test]
    fn starting_above_the_limit_differs_from_growing_above_it() {
        assert!(trend(&[101, 102, 103]).began_too_much());
        assert!(!trend(&[99, 102, 103]).began_too_much());
    }

    #[test]
    fn the_rate_covers_the_last_two_readings() {
        let rate = |readings: &[u64]| trend(readings).approach(100).rate;
        assert!(rate(&[7]).abs() < f64::EPSILON);
        assert!((rate(&[7, 10, 50]) - 40.0).abs() < 0.1);
        let holds = rate(&[50, 10]).abs() < f64::EPSILON;
        assert!(holds, "shrinking is no negative growth");
    }
}
