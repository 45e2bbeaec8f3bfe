use std::time::{Duration, Instant};

use crate::directives::{RequestDirectives, ResponseDirectives};

/// How old a response is, and until when it may be served (RFC 9111, section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freshness {
    pub(crate) received: Instant,
    /// The age of the response when it was received.
    pub(crate) initial_age: Duration,
    pub(crate) lifetime: Duration,
    /// For how long after its lifetime the response may be sent while another one is fetched.
    pub(crate) stale_while_revalidate: Duration,
    /// For how long after its lifetime the response may be sent when the application fails.
    pub(crate) stale_if_error: Duration,
    /// Whether the application must confirm the response before each use.
    pub(crate) is_confirmed_always: bool,
}

/// Whether a stored response answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheVerdict {
    /// The response may be sent.
    Fresh,
    /// The response may be sent, and another one is to be fetched.
    StaleWhileRevalidate,
    /// The response may be sent once the application has confirmed it.
    Stale,
}

impl Freshness {
    pub(crate) fn new(
        directives: &ResponseDirectives,
        lifetime: Duration,
        initial_age: Duration,
        received: Instant,
    ) -> Freshness {
        // `s-maxage` alone implies that no stale response is sent (RFC 9111, section 5.2.2.10). An
        // application that also names `stale-while-revalidate` or `stale-if-error` means what these
        // say.
        let strict = directives.must_revalidate || directives.no_cache;
        let allowed = |time: Option<Duration>| time.filter(|_| !strict).unwrap_or_default();
        Freshness {
            received,
            initial_age,
            lifetime,
            stale_while_revalidate: allowed(directives.stale_while_revalidate),
            stale_if_error: allowed(directives.stale_if_error),
            is_confirmed_always: directives.no_cache || lifetime.is_zero(),
        }
    }

    /// The value of the Age header field.
    pub fn age(&self, now: Instant) -> Duration {
        self.initial_age + now.saturating_duration_since(self.received)
    }

    /// Whether the application must confirm the response before each use. Then no request may wait
    /// for the response to another one.
    pub fn is_confirmed_always(&self) -> bool {
        self.is_confirmed_always
    }

    /// Judges the response for a request that came at `arrived`. A response that was received later
    /// is as new as the request can wish.
    pub fn verdict(
        &self,
        wishes: &RequestDirectives,
        arrived: Instant,
        now: Instant,
    ) -> CacheVerdict {
        let age = self.age(now);
        let left = self.lifetime.saturating_sub(age);
        let is_too_old = wishes.no_cache
            || wishes
                .max_age
                .is_some_and(|limit| age > limit || limit.is_zero())
            || wishes.min_fresh.is_some_and(|wanted| left < wanted);
        if self.is_confirmed_always || (is_too_old && self.received < arrived) {
            CacheVerdict::Stale
        } else if age < self.lifetime {
            CacheVerdict::Fresh
        } else if age < self.lifetime + self.stale_while_revalidate {
            CacheVerdict::StaleWhileRevalidate
        } else {
            CacheVerdict::Stale
        }
    }

    /// Whether the response may be sent in place of a failure of the application.
    pub fn covers_failure(&self, now: Instant) -> bool {
        !self.stale_if_error.is_zero() && self.age(now) < self.lifetime + self.stale_if_error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn fresh_for(lifetime: u32, change: impl FnOnce(&mut ResponseDirectives)) -> Freshness {
        let mut directives = ResponseDirectives::default();
        change(&mut directives);
        Freshness::new(&directives, lifetime * SECOND, SECOND, Instant::now())
    }

    fn at(freshness: &Freshness, seconds: u32, wishes: &RequestDirectives) -> CacheVerdict {
        let now = freshness.received + seconds * SECOND;
        freshness.verdict(wishes, now, now)
    }

    #[test]
    fn a_response_is_fresh_until_its_age_is_its_lifetime() {
        let plain = RequestDirectives::default();
        let page = fresh_for(10, |it| it.stale_while_revalidate = Some(5 * SECOND));
        let expected = [
            (0, CacheVerdict::Fresh),
            (8, CacheVerdict::Fresh),
            (9, CacheVerdict::StaleWhileRevalidate),
            (13, CacheVerdict::StaleWhileRevalidate),
            (14, CacheVerdict::Stale),
        ];
        for (seconds, verdict) in expected {
            assert_eq!(at(&page, seconds, &plain), verdict, "{seconds}");
        }
        assert_eq!(page.age(page.received + 4 * SECOND), 5 * SECOND);
    }

    #[test]
    fn what_must_be_confirmed_is_never_served_stale() {
        let plain = RequestDirectives::default();
        for strict in [0, 1] {
            let page = fresh_for(10, |it| {
                it.stale_while_revalidate = Some(50 * SECOND);
                it.stale_if_error = Some(50 * SECOND);
                it.must_revalidate = strict == 0;
                it.no_cache = strict == 1;
            });
            assert_eq!(at(&page, 20, &plain), CacheVerdict::Stale);
            assert!(!page.covers_failure(page.received + 20 * SECOND));
        }
        let always = fresh_for(10, |it| it.no_cache = true);
        assert_eq!(at(&always, 0, &plain), CacheVerdict::Stale);
        let never = fresh_for(0, |_| {});
        assert!(never.is_confirmed_always());
    }

    #[test]
    fn a_failure_is_covered_for_as_long_as_the_response_says() {
        let page = fresh_for(10, |it| it.stale_if_error = Some(5 * SECOND));
        assert!(page.covers_failure(page.received + 13 * SECOND));
        assert!(!page.covers_failure(page.received + 14 * SECOND));
        assert!(!fresh_for(10, |_| {}).covers_failure(page.received));
    }

    #[test]
    fn a_client_may_ask_for_a_newer_one() {
        let page = fresh_for(10, |it| it.stale_while_revalidate = Some(5 * SECOND));
        let wish = |change: fn(&mut RequestDirectives)| {
            let mut wishes = RequestDirectives::default();
            change(&mut wishes);
            wishes
        };
        let no_cache = wish(|it| it.no_cache = true);
        assert_eq!(at(&page, 1, &no_cache), CacheVerdict::Stale);
        let zero = wish(|it| it.max_age = Some(Duration::ZERO));
        assert_eq!(at(&page, 1, &zero), CacheVerdict::Stale);
        let young = wish(|it| it.max_age = Some(3 * SECOND));
        assert_eq!(at(&page, 2, &young), CacheVerdict::Fresh);
        assert_eq!(at(&page, 3, &young), CacheVerdict::Stale);
        let lasting = wish(|it| it.min_fresh = Some(5 * SECOND));
        assert_eq!(at(&page, 4, &lasting), CacheVerdict::Fresh);
        assert_eq!(at(&page, 5, &lasting), CacheVerdict::Stale);
        // The request has waited for this very response.
        let now = page.received + SECOND;
        let arrived = page.received;
        assert_eq!(page.verdict(&no_cache, arrived, now), CacheVerdict::Fresh);
    }
}
