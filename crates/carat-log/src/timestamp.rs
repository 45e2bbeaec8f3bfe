//! UTC times in log formats.

use std::fmt;
use std::time::SystemTime;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// A UTC date and time; displays as RFC 3339 with milliseconds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    year: u64,
    month: u8,
    day: u64,
    second_of_day: u64,
    millisecond: u32,
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        // A clock that stands before 1970 was never set.
        let elapsed = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let (year, month, day) = civil(elapsed.as_secs() / 86_400);
        Timestamp {
            year,
            month,
            day,
            second_of_day: elapsed.as_secs() % 86_400,
            millisecond: elapsed.subsec_millis(),
        }
    }
}

impl Timestamp {
    fn clock(self) -> (u64, u64, u64) {
        (
            self.second_of_day / 3600,
            self.second_of_day / 60 % 60,
            self.second_of_day % 60,
        )
    }

    /// The common log format: `20/Nov/2026:23:57:44 +0000`.
    pub fn common(self) -> String {
        let (hour, minute, second) = self.clock();
        let month = MONTHS[usize::from(self.month) - 1];
        format!(
            "{:02}/{month}/{}:{hour:02}:{minute:02}:{second:02} +0000",
            self.day, self.year
        )
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute, second) = self.clock();
        write!(f, "{}-{:02}-{:02}T", self.year, self.month, self.day)?;
        write!(
            f,
            "{hour:02}:{minute:02}:{second:02}.{:03}Z",
            self.millisecond
        )
    }
}

/// Year, month and day from the days since 1970-01-01, by Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>), for non-negative days only.
fn civil(days: u64) -> (u64, u8, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (
        year,
        u8::try_from(month).expect("a month is at most 12"),
        day,
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn leap_days_and_year_ends_are_right() {
        for (seconds, text) in [
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_798_761_599, "2026-12-31T23:59:59.000Z"),
            (1_795_219_064, "2026-11-20T23:57:44.000Z"),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(Timestamp::from(time).to_string(), text);
        }
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_219_064);
        assert_eq!(Timestamp::from(time).common(), "20/Nov/2026:23:57:44 +0000");
    }
}
