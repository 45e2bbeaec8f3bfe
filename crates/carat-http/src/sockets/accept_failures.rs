//! The consequences of an error of accept(2).

use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use carat_log::Log;

/// The first pause when no descriptor is left for another client. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause when no descriptor is left for another client.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How long an error that was logged is not logged again.
const SILENCE: Duration = Duration::from_secs(60);

/// The errors of one listener.
pub struct AcceptFailures {
    /// The name of the listener, whose clients have to wait.
    listener: &'static str,
    pause: Duration,
    /// The last error that was logged, and when.
    logged: Option<(Option<i32>, Instant)>,
}

impl AcceptFailures {
    /// The errors of the listener with this name: none yet.
    pub fn new(listener: &'static str) -> AcceptFailures {
        AcceptFailures {
            listener,
            pause: FIRST_PAUSE,
            logged: None,
        }
    }

    /// A client was accepted.
    pub fn end(&mut self) {
        self.pause = FIRST_PAUSE;
    }

    /// How long to pause before the next attempt, or the error when the listener has failed for good.
    pub fn pause_after(
        &mut self,
        error: io::Error,
        now: Instant,
        log: &Log,
    ) -> io::Result<Duration> {
        if is_broken(&error) {
            return Err(error);
        }
        if is_of_one_client(&error) {
            return Ok(Duration::ZERO);
        }
        let errno = error.raw_os_error();
        let is_known = self.logged.is_some_and(|(logged, at)| {
            logged == errno && now.saturating_duration_since(at) < SILENCE
        });
        if !is_known {
            self.logged = Some((errno, now));
            let message = if is_exhausted(&error) {
                "cannot accept: no descriptor left"
            } else {
                "cannot accept"
            };
            log.warn(message, &[("listener", &self.listener), ("cause", &error)]);
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        Ok(pause)
    }
}

fn is_exhausted(error: &io::Error) -> bool {
    is_one_of(
        error,
        &[Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM],
    )
}

/// Whether the error concerns only the client that was to be accepted, and that is gone (accept(2)).
fn is_of_one_client(error: &io::Error) -> bool {
    is_one_of(
        error,
        &[
            Errno::CONNABORTED,
            Errno::PROTO,
            Errno::NOPROTOOPT,
            Errno::HOSTDOWN,
            Errno::NONET,
            Errno::HOSTUNREACH,
            Errno::OPNOTSUPP,
            Errno::NETDOWN,
            Errno::NETUNREACH,
            Errno::INTR,
            Errno::AGAIN,
        ],
    )
}

/// Whether the listener itself is broken (accept(2)).
fn is_broken(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::BADF, Errno::INVAL, Errno::NOTSOCK])
}

fn is_one_of(error: &io::Error, errnos: &[Errno]) -> bool {
    errnos
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use carat_settings::Settings;

    fn log(path: &Path) -> Log {
        let mut settings = Settings::plain();
        settings.log = Some(path.to_owned());
        Log::open(&settings).expect("a log")
    }

    #[test]
    fn pauses_grow_until_a_client_is_accepted() {
        let (mut failures, now) = (AcceptFailures::new("x"), Instant::now());
        let log = log(Path::new("/dev/null"));
        let mut pause = || {
            let pause = failures.pause_after(Errno::MFILE.into(), now, &log);
            pause.expect("the listener is sound").as_millis()
        };
        let pauses: Vec<_> = (0..7).map(|_| pause()).collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1000, 1000]);
        failures.end();
        let pause = failures.pause_after(Errno::NFILE.into(), now, &log);
        assert_eq!(pause.expect("sound"), FIRST_PAUSE);
    }

    #[test]
    fn an_error_is_logged_once_a_minute_and_another_one_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let (log, mut failures) = (log(&path), AcceptFailures::new("x"));
        let start = Instant::now();
        for second in 0..120 {
            let now = start + Duration::from_secs(second);
            let pause = failures.pause_after(Errno::MFILE.into(), now, &log);
            assert!(pause.is_ok());
        }
        for _ in 0..3 {
            let now = start + Duration::from_secs(120);
            let pause = failures.pause_after(Errno::PERM.into(), now, &log);
            assert!(pause.expect("sound") > Duration::ZERO);
        }
        log.finish();
        let lines = fs::read_to_string(&path).expect("written");
        assert_eq!(lines.matches("no descriptor left").count(), 2, "{lines}");
        assert_eq!(lines.matches("cannot accept ").count(), 1, "{lines}");
    }

    #[test]
    fn a_client_that_is_gone_costs_no_pause_and_a_broken_listener_is_an_error() {
        let log = log(Path::new("/dev/null"));
        let mut failures = AcceptFailures::new("x");
        let gone = failures.pause_after(Errno::CONNABORTED.into(), Instant::now(), &log);
        assert_eq!(gone.expect("sound"), Duration::ZERO);
        let broken = failures.pause_after(Errno::INVAL.into(), Instant::now(), &log);
        assert!(broken.is_err());
    }
}
