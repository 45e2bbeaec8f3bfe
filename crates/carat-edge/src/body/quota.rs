use std::cell::Cell;
use std::rc::Rc;

/// The bytes in all spools together, bounded by `spool_limit`.
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

    /// How often the limit has refused bytes since this was asked last.
    pub(crate) fn take_refused(&self) -> u64 {
        self.refused.take()
    }
}

/// A part of the quota; dropping it gives its bytes back.
#[derive(Debug)]
pub(super) struct Reservation {
    quota: Rc<SpoolQuota>,
    bytes: u64,
}

impl Reservation {
    /// A part of `quota` without a byte.
    pub(super) fn of(quota: &Rc<SpoolQuota>) -> Reservation {
        Reservation {
            quota: Rc::clone(quota),
            bytes: 0,
        }
    }

    /// Takes more bytes, or none at all: `false` when the limit does not allow them.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let used = self.quota.used.get().saturating_add(bytes);
        if used > self.quota.limit {
            self.quota.refused.set(self.quota.refused.get() + 1);
            return false;
        }
        self.quota.used.set(used);
        self.bytes += bytes;
        true
    }

    /// The bytes of this part.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.quota.used.set(self.quota.used.get() - self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_part_has_taken_is_there_again_when_it_is_dropped() {
        let quota = SpoolQuota::new(10);
        let mut first = Reservation::of(&quota);
        let mut second = Reservation::of(&quota);
        assert!(first.grow(6) && second.grow(4));
        assert!(!second.grow(1));
        drop(first);
        assert!(second.grow(6));
        assert_eq!(second.bytes(), 10);
    }

    #[test]
    fn what_does_not_fit_is_not_taken_and_counted_once() {
        let quota = SpoolQuota::new(10);
        let mut part = Reservation::of(&quota);
        assert!(!part.grow(11));
        assert_eq!((part.bytes(), quota.take_refused()), (0, 1));
        assert!(part.grow(10));
        assert_eq!(quota.take_refused(), 0);
    }

    #[test]
    fn a_number_beyond_all_bounds_does_not_wrap_around() {
        let quota = SpoolQuota::new(u64::MAX - 1);
        let mut part = Reservation::of(&quota);
        assert!(part.grow(2));
        assert!(!part.grow(u64::MAX));
    }
}
