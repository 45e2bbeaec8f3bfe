use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};

/// The longest pause that a collector can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The collector has taken it, except for so many spans.
    Taken { rejected: u64 },
    /// It never will.
    Refused(StatusCode),
    /// It may take it later: after the time that it named, if it did.
    Later(Option<Duration>, String),
}

impl Delivery {
    /// By the status of a response without a message, as OTLP says which may be repeated.
    pub(crate) fn by_status(status: StatusCode, fields: &HeaderMap) -> Delivery {
        match status.as_u16() {
            200..=299 => Delivery::Taken { rejected: 0 },
            429 | 502 | 503 | 504 => {
                let pause = fields
                    .get(RETRY_AFTER)
                    .and_then(|value| value.to_str().ok());
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
    use http::HeaderValue;

    use super::*;

    fn by(status: u16, pause: &'static str) -> Delivery {
        let mut fields = HeaderMap::new();
        fields.insert(RETRY_AFTER, HeaderValue::from_static(pause));
        let status = StatusCode::from_u16(status).expect("a status");
        Delivery::by_status(status, &fields)
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
        assert_eq!(
            by(500, ""),
            Delivery::Refused(StatusCode::INTERNAL_SERVER_ERROR)
        );
        assert_eq!(by(400, ""), Delivery::Refused(StatusCode::BAD_REQUEST));
        assert_eq!(by(202, ""), Delivery::Taken { rejected: 0 });
    }
}
