use std::cell::Cell;
use std::rc::Rc;

/// The total of bytes in all spools, limited by `spool_limit`.
#[derive(Debug)]
pub(crate) struct SpoolQuota {
    limit: u64,
    used: Cell<u64>,
    refused: Cell<u64>,
}

impl SpoolQuota {
    pub(crate) fn new(limit: u64) -> Rc<SpoolQuota> {
        Rc::new(SpoolQuota {
            limit,
            used: Cell::new(0),
            refused: Cell::new(0),
        })
    }

    /// How often the limit refused bytes since the last call.
    pub(crate) fn take_refused(&self) -> u64 {
        self.refused.take()
    }
}

/// A part of the quota. Dropping it returns its bytes.
#[derive(Debug)]
pub(crate) struct SpoolReservation {
    quota: Rc<SpoolQuota>,
    bytes: u64,
}

impl SpoolReservation {
    /// An empty part of `quota`.
    pub(crate) fn of(quota: &Rc<SpoolQuota>) -> SpoolReservation {
        SpoolReservation {
            quota: Rc::clone(quota),
            bytes: 0,
        }
    }

    /// Reserves more bytes, or none and returns `false` when that would exceed the limit.
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        let used = self.quota.used.get().saturating_add(bytes);
        if used > self.quota.limit {
            self.quota.refused.set(self.quota.refused.get() + 1);
            return false;
        }
        self.quota.used.set(used);
        self.bytes += bytes;
        true
    }

    /// Bytes reserved.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for SpoolReservation {
    fn drop(&mut self) {
        self.quota.used.set(self.quota.used.get() - self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_part_returns_its_bytes() {
        let quota = SpoolQuota::new(10);
        let mut first = SpoolReservation::of(&quota);
        let mut second = SpoolReservation::of(&quota);
        assert!(first.grow(6) && second.grow(4));
        assert!(!second.grow(1));
        drop(first);
        assert!(second.grow(6));
        assert_eq!(second.bytes(), 10);
    }

    #[test]
    fn bytes_over_the_limit_are_refused_and_counted_once() {
        let quota = SpoolQuota::new(10);
        let mut part = SpoolReservation::of(&quota);
        assert!(!part.grow(11));
        assert_eq!((part.bytes(), quota.take_refused()), (0, 1));
        assert!(part.grow(10));
        assert_eq!(quota.take_refused(), 0);
    }

    #[test]
    fn a_huge_number_does_not_wrap_around() {
        let quota = SpoolQuota::new(u64::MAX - 1);
        let mut part = SpoolReservation::of(&quota);
        assert!(part.grow(2));
        assert!(!part.grow(u64::MAX));
    }
}
