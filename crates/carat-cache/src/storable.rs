use std::time::{Duration, Instant, SystemTime};

use carat_fields::members;
use http::header::{AGE, CONTENT_RANGE, DATE, ETAG, EXPIRES, LAST_MODIFIED, SET_COOKIE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::directives::{ResponseDirectives, seconds};
use crate::freshness::Freshness;

/// When a request was sent to the application, and its response came.
#[derive(Clone, Copy)]
pub struct ExchangeTimes {
    /// The time at which the request was sent.
    pub asked: Instant,
    /// The time at which the response was received.
    pub received: Instant,
    /// The wall-clock time of `received`.
    pub date: SystemTime,
}

/// How long a response is fresh; `None` for one that must not, or need not, be stored.
///
/// The rules are stricter than RFC 9111, section 3. The application must say `public` or
/// `s-maxage`, and a lifetime is never guessed. A response without a lifetime is stored only if the
/// application can confirm it.
pub(crate) fn freshness(
    status: StatusCode,
    headers: &HeaderMap,
    times: &ExchangeTimes,
) -> Option<Freshness> {
    let directives = ResponseDirectives::of(headers);
    let is_for_all = directives.is_public || directives.s_maxage.is_some();
    // A cache that knows what a status means ignores `no-store` beside `must-understand` (RFC 9111,
    // section 5.2.2.3).
    let is_forbidden =
        directives.is_private || (directives.no_store && !directives.must_understand);
    // A cookie says that the response was made for one client. (Thruster removes the cookie and
    // stores the rest.)
    let is_own = headers.contains_key(SET_COOKIE) || headers.contains_key(CONTENT_RANGE);
    if !has_storable_status(status)
        || !is_for_all
        || is_forbidden
        || is_own
        || varies_always(headers)
    {
        return None;
    }
    let lifetime = lifetime(&directives, headers, times);
    let freshness = Freshness::new(
        &directives,
        lifetime,
        initial_age(headers, times),
        times.received,
    );
    let is_of_use = !freshness.is_confirmed_always || has_validator(headers);
    is_of_use.then_some(freshness)
}

/// Whether a response with this status may be stored. Of the errors, only those that say that the
/// resource does not exist: any other error may be about the request of one client, or about the
/// server's state at that time.
fn has_storable_status(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200..=204 | 207..=303 | 307 | 308 | 404 | 410)
}

pub(crate) fn has_validator(headers: &HeaderMap) -> bool {
    headers.contains_key(ETAG) || headers.contains_key(LAST_MODIFIED)
}

fn varies_always(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(VARY).iter().map(HeaderValue::as_bytes);
    lines.flat_map(members).any(|member| member == b"*")
}

fn lifetime(
    directives: &ResponseDirectives,
    headers: &HeaderMap,
    times: &ExchangeTimes,
) -> Duration {
    let named = directives.s_maxage.or(directives.max_age);
    named.unwrap_or_else(|| {
        let mut expires = headers.get_all(EXPIRES).iter();
        let only = expires.next().filter(|_| expires.next().is_none());
        let until = only.and_then(date_of);
        let date = only_date(headers, &DATE).unwrap_or(times.date);
        let lifetime = until.and_then(|until| until.duration_since(date).ok());
        lifetime.unwrap_or_default()
    })
}

/// The age of a response when it was received (RFC 9111, section 4.2.3).
fn initial_age(headers: &HeaderMap, times: &ExchangeTimes) -> Duration {
    let date = only_date(headers, &DATE).unwrap_or(times.date);
    let apparent = times.date.duration_since(date).unwrap_or_default();
    // The first member of a list counts. A value that is no number is ignored.
    let age = headers.get(AGE).and_then(|age| age.to_str().ok());
    let age = age.and_then(|age| seconds(age.split(',').next()?.trim()));
    // Without Age, the application has made the response just now: the time that it took is not
    // part of the age.
    let delay = times.received.saturating_duration_since(times.asked);
    age.map_or(apparent, |age| {
        apparent.max(Duration::from_secs(age) + delay)
    })
}

fn only_date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    headers.get(name).and_then(date_of)
}

pub(crate) fn date_of(value: &HeaderValue) -> Option<SystemTime> {
    httpdate::parse_http_date(value.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> ExchangeTimes {
        let now = Instant::now();
        ExchangeTimes {
            asked: now,
            received: now,
            date: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
        }
    }

    fn of(status: u16, lines: &[(&'static str, &'static str)]) -> Option<Freshness> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        freshness(
            StatusCode::from_u16(status).expect("a status"),
            &headers,
            &times(),
        )
    }

    fn lives(lines: &[(&'static str, &'static str)]) -> Option<u64> {
        of(200, lines).map(|it| it.lifetime.as_secs())
    }

    #[test]
    fn the_application_has_to_say_that_a_response_is_for_all() {
        let lives = |value| lives(&[("cache-control", value)]);
        assert_eq!(lives("public, max-age=10"), Some(10));
        assert_eq!(lives("max-age=5, s-maxage=10"), Some(10));
        let texts = "max-age=10|max-age=10, private|public, private, max-age=10|\
            public, no-store, max-age=10|public|public, max-age=0|\
            public, max-age=10, no-cache";
        for value in texts.split('|') {
            assert_eq!(lives(value), None, "{value}");
        }
        let found = lives("public, max-age=1, no-store, must-understand");
        assert_eq!(found, Some(1));
    }

    #[test]
    fn what_is_made_for_one_client_is_not_stored() {
        let public = ("cache-control", "public, max-age=10");
        for line in [
            ("set-cookie", "a=1"),
            ("vary", "accept, *"),
            ("content-range", "bytes 0-1/2"),
        ] {
            assert_eq!(lives(&[public, line]), None, "{line:?}");
        }
    }

    #[test]
    fn a_lifetime_is_named_and_never_guessed() {
        let public = ("cache-control", "public");
        let expires = ("expires", "Sun, 09 Sep 2001 01:47:00 GMT");
        assert_eq!(lives(&[public, expires]), Some(20));
        let date = ("date", "Sun, 09 Sep 2001 01:46:50 GMT");
        assert_eq!(lives(&[public, expires, date]), Some(10));
        assert_eq!(lives(&[public, ("expires", "0")]), None);
        assert_eq!(lives(&[public, expires, expires]), None);
        let modified = ("last-modified", "Sun, 09 Sep 2000 01:46:50 GMT");
        assert_eq!(lives(&[public, modified]), Some(0));
    }

    #[test]
    fn what_the_application_can_confirm_is_stored_without_a_lifetime() {
        let tag = ("etag", "\"x\"");
        for value in [
            "public",
            "public, no-cache",
            "public, max-age=0, must-revalidate",
        ] {
            let found = of(200, &[("cache-control", value), tag]);
            assert!(found.is_some_and(|it| it.is_confirmed_always), "{value}");
        }
    }

    #[test]
    fn errors_are_not_stored_unless_they_say_that_there_is_nothing() {
        let public = [("cache-control", "public, max-age=10")];
        for status in [200, 203, 204, 299, 300, 301, 302, 303, 307, 308, 404, 410] {
            assert!(of(status, &public).is_some(), "{status}");
        }
        for status in [
            205, 206, 304, 400, 401, 403, 413, 416, 431, 500, 502, 503, 504,
        ] {
            assert!(of(status, &public).is_none(), "{status}");
        }
    }

    #[test]
    fn the_age_on_the_way_counts() {
        let public = ("cache-control", "public, max-age=10");
        let age = |line| of(200, &[public, line]).map(|it| it.initial_age.as_secs());
        assert_eq!(age(("age", "7")), Some(7));
        assert_eq!(age(("age", "7, 0")), Some(7));
        assert_eq!(age(("age", "x")), Some(0));
        assert_eq!(age(("date", "Sun, 09 Sep 2001 01:46:37 GMT")), Some(3));
        assert_eq!(age(("date", "Sun, 09 Sep 2001 01:46:50 GMT")), Some(0));
    }
}
