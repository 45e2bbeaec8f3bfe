use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// For how long requests do not wait for each other after a response that cannot be stored, as in Varnish.
const PASS_TIME: Duration = Duration::from_secs(120);
/// The most URLs that are remembered. Beyond it, the oldest one is forgotten: requests for it then wait for each other
/// once.
const PASSES_LIMIT: usize = 16 * 1024;

/// URLs whose responses could not be stored. Their requests go to the application at once.
#[derive(Debug, Default)]
pub(crate) struct PassList {
    until: HashMap<u64, Instant>,
    order: VecDeque<u64>,
}

impl PassList {
    /// Adds a URL by its hash. If two URLs have the same hash, requests for either do not wait for each other, which
    /// does no further harm.
    pub(crate) fn add(&mut self, url: u64, now: Instant) {
        if self.until.insert(url, now + PASS_TIME).is_none() {
            self.order.push_back(url);
        }
        if self.order.len() > PASSES_LIMIT {
            let oldest = self.order.pop_front();
            oldest.and_then(|oldest| self.until.remove(&oldest));
        }
    }

    pub(crate) fn contains(&self, url: u64, now: Instant) -> bool {
        self.until.get(&url).is_some_and(|until| now < *until)
    }

    /// Removes a URL whose response could be stored. Its place in the order stays until it is the oldest.
    pub(crate) fn remove(&mut self, url: u64) {
        if let Some(until) = self.until.get_mut(&url) {
            *until = until.checked_sub(PASS_TIME).unwrap_or(*until);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.until.clear();
        self.order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_remembered_for_a_time() {
        let (mut list, now) = (PassList::default(), Instant::now());
        list.add(1, now);
        assert!(list.contains(1, now) && !list.contains(2, now));
        assert!(!list.contains(1, now + PASS_TIME));
        list.remove(1);
        assert!(!list.contains(1, now));
        list.add(1, now);
        assert!(list.contains(1, now));
        list.clear();
        assert!(!list.contains(1, now));
    }

    #[test]
    fn the_list_has_an_end() {
        let (mut list, now) = (PassList::default(), Instant::now());
        for url in 0..=PASSES_LIMIT as u64 {
            list.add(url, now);
            list.add(url, now);
        }
        let found = (list.order.len(), list.until.len());
        assert_eq!(found, (PASSES_LIMIT, PASSES_LIMIT));
        assert!(!list.contains(0, now) && list.contains(PASSES_LIMIT as u64, now));
    }
}
