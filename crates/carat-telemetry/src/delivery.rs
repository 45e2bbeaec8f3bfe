use std::time::Duration;

/// The longest pause that a collector can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The outcome of delivering a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The collector has taken it, except for so many spans.
    Taken { rejected: u64 },
    /// The collector will never take the message.
    Refused(u16),
    /// The collector may take the message later, after the time that it named, if any.
    Later(Option<Duration>, String),
}

impl Delivery {
    /// By the status of a response and its `Retry-After`, as OTLP says which may be repeated.
    pub(crate) fn by_status(status: u16, pause: Option<&str>) -> Delivery {
        match status {
            200..=299 => Delivery::Taken { rejected: 0 },
            429 | 502 | 503 | 504 => {
                let pause = pause.and_then(|seconds| seconds.trim().parse().ok());
                let pause = pause.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
                Delivery::Later(pause, status.to_string())
            }
            _ => Delivery::Refused(status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(status: u16, pause: &str) -> Delivery {
        Delivery::by_status(status, Some(pause))
    }

    #[test]
    fn an_overloaded_collector_says_when_to_come_back_within_a_bound() {
        let pause = |delivery| match delivery {
            Delivery::Later(pause, _) => pause,
            other => panic!("{other:?}"),
        };
        assert_eq!(pause(by(429, "7")), Some(Duration::from_secs(7)));
        assert_eq!(pause(by(503, "99999999999")), Some(LONGEST_PAUSE));
        assert_eq!(pause(by(504, "soon")), None);
    }

    #[test]
    fn what_may_not_be_repeated_is_refused() {
        assert_eq!(by(500, ""), Delivery::Refused(500));
        assert_eq!(by(400, ""), Delivery::Refused(400));
        assert_eq!(by(202, ""), Delivery::Taken { rejected: 0 });
    }
}
