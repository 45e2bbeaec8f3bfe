//! How the number of processes follows a load that the application measures.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// A load above this asks for one process more.
const HIGH: f64 = 1.0;
/// A load that stays below this asks for one process fewer.
const LOW: f64 = 0.5;
/// How long a load must stay below `LOW`.
const LOW_FOR: Duration = Duration::from_secs(60);

/// A load above 1 adds a process. A load that has stayed below 0.5 for a minute ends one.
#[derive(Debug, Default)]
pub struct LoadRule {
    low_since: Option<Instant>,
}

impl LoadRule {
    /// How many processes to run instead of `wanted` once this load was measured. `may_grow` says whether all wanted
    /// processes run, and there is memory for one more.
    pub fn follow(
        &mut self,
        load: f64,
        wanted: u32,
        bounds: &RangeInclusive<u32>,
        may_grow: bool,
        now: Instant,
    ) -> u32 {
        if load >= LOW {
            self.low_since = None;
            let further = u32::from(load > HIGH && may_grow);
            return wanted.saturating_add(further).min(*bounds.end());
        }
        let since = *self.low_since.get_or_insert(now);
        if now.saturating_duration_since(since) < LOW_FOR {
            return wanted;
        }
        self.low_since = Some(now);
        wanted.saturating_sub(1).max(*bounds.start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// The number of processes after each of these loads, one every 10 s. It starts at one, of one to three.
    fn numbers(loads: &[f64]) -> Vec<u32> {
        let (mut rule, mut wanted, now) = (LoadRule::default(), 1, Instant::now());
        let at = (0..).map(|index| now + SECOND * 10 * index);
        let mut numbers = Vec::new();
        for (load, at) in loads.iter().zip(at) {
            wanted = rule.follow(*load, wanted, &(1..=3), true, at);
            numbers.push(wanted);
        }
        numbers
    }

    #[test]
    fn each_high_load_adds_a_process_up_to_the_most() {
        assert_eq!(numbers(&[1.0, 1.1, 7.0, 9.0]), [1, 2, 3, 3]);
    }

    #[test]
    fn a_minute_of_low_load_ends_one_down_to_the_fewest() {
        let mut loads = vec![2.0, 2.0];
        loads.extend([0.0; 20]);
        let numbers = numbers(&loads);
        assert_eq!(
            &numbers[2..],
            [3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1]
        );
    }

    #[test]
    fn a_load_between_begins_the_minute_again() {
        let low_but_once = [2.0, 0.0, 0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4];
        assert_eq!(numbers(&low_but_once).last(), Some(&2));
    }

    #[test]
    fn it_does_not_grow_while_it_may_not() {
        let mut rule = LoadRule::default();
        let number = rule.follow(9.0, 1, &(1..=3), false, Instant::now());
        assert_eq!(number, 1);
    }
}
