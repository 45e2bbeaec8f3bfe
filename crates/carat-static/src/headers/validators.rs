use std::time::{Duration, SystemTime};

use carat_coding::Coding;
use http::HeaderValue;
use rustix::fs::Stat;

/// The marks that tell one version of a file from another (RFC 9110, 8.8).
#[derive(Clone)]
pub(crate) struct Validators {
    /// A strong entity tag: the time of the last change in nanoseconds, the size, and the coding.
    pub(crate) etag: HeaderValue,
    /// The time of the last change in whole seconds.
    pub(crate) last_modified: SystemTime,
}

impl Validators {
    /// The validators of the file with this status, whose content is in this coding.
    pub(crate) fn of(stat: &Stat, coding: Option<Coding>) -> Validators {
        let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
        let (nanoseconds, size) = (stat.st_mtime_nsec, stat.st_size);
        let coding = coding.map_or("", Coding::name);
        let etag = format!("\"{seconds:x}.{nanoseconds:x}-{size:x}{coding}\"");
        Validators {
            etag: HeaderValue::try_from(etag).expect("made of ASCII letters and digits"),
            last_modified: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
        }
    }

    /// The value of `Last-Modified`.
    pub(crate) fn last_modified(&self) -> HeaderValue {
        let date = httpdate::fmt_http_date(self.last_modified);
        HeaderValue::try_from(date).expect("a date is ASCII")
    }
}
