use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The bytes of all spools together, limited by `spool_limit`, and the number of files of request bodies, limited by
/// how many files this process may open. One thread takes from the quota; the threads that close files give back.
#[derive(Debug)]
pub struct SpoolQuota {
    limit: u64,
    used: AtomicU64,
    refused: AtomicU64,
    /// The most files of request bodies.
    pub file_limit: usize,
    files: AtomicUsize,
    refused_files: AtomicU64,
}

impl SpoolQuota {
    /// A quota of `limit` bytes and `file_limit` files.
    pub fn new(limit: u64, file_limit: usize) -> Arc<SpoolQuota> {
        Arc::new(SpoolQuota {
            limit,
            used: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            file_limit,
            files: AtomicUsize::new(0),
            refused_files: AtomicU64::new(0),
        })
    }

    /// How often the limit refused bytes since the last call.
    pub fn take_refused(&self) -> u64 {
        self.refused.swap(0, Relaxed)
    }

    /// How often there was no file for a body since the last call.
    pub fn take_refused_files(&self) -> u64 {
        self.refused_files.swap(0, Relaxed)
    }

    /// The bytes of all spools.
    pub fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Whether at least half of the files are free. Only then does each file of a form get a file of its own; otherwise
    /// the whole body takes one file.
    pub fn has_files_to_spare(&self) -> bool {
        self.files.load(Relaxed) < self.file_limit / 2
    }
}

/// A part of the quota. Dropping it returns its bytes and its file.
#[derive(Debug)]
pub struct SpoolReservation {
    quota: Arc<SpoolQuota>,
    bytes: AtomicU64,
    files: usize,
}

impl SpoolReservation {
    /// An empty part of `quota`.
    pub fn of(quota: &Arc<SpoolQuota>) -> SpoolReservation {
        SpoolReservation {
            quota: Arc::clone(quota),
            bytes: AtomicU64::new(0),
            files: 0,
        }
    }

    /// A reservation for a file without bytes; `None` when there are too many files.
    pub fn of_file(quota: &Arc<SpoolQuota>) -> Option<SpoolReservation> {
        if quota.files.load(Relaxed) >= quota.file_limit {
            quota.refused_files.fetch_add(1, Relaxed);
            return None;
        }
        quota.files.fetch_add(1, Relaxed);
        let mut reservation = SpoolReservation::of(quota);
        reservation.files = 1;
        Some(reservation)
    }

    /// Reserves more bytes. Returns `false`, and reserves none, if the limit would be exceeded.
    pub fn grow(&self, bytes: u64) -> bool {
        let used = self.quota.used.load(Relaxed).saturating_add(bytes);
        if used > self.quota.limit {
            self.quota.refused.fetch_add(1, Relaxed);
            return false;
        }
        self.quota.used.fetch_add(bytes, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        true
    }

    /// Bytes reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }
}

impl Drop for SpoolReservation {
    fn drop(&mut self) {
        self.quota.used.fetch_sub(self.bytes(), Relaxed);
        self.quota.files.fetch_sub(self.files, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: usize = 4;

    #[test]
    fn a_dropped_part_returns_its_bytes() {
        let quota = SpoolQuota::new(10, FILES);
        let first = SpoolReservation::of(&quota);
        let second = SpoolReservation::of(&quota);
        assert!(first.grow(6) && second.grow(4));
        assert!(!second.grow(1));
        drop(first);
        assert!(second.grow(6));
        assert_eq!(second.bytes(), 10);
    }

    #[test]
    fn bytes_over_the_limit_are_refused_and_counted_once() {
        let quota = SpoolQuota::new(10, FILES);
        let part = SpoolReservation::of(&quota);
        assert!(!part.grow(11));
        assert_eq!((part.bytes(), quota.take_refused()), (0, 1));
        assert!(part.grow(10));
        assert_eq!(quota.take_refused(), 0);
    }

    #[test]
    fn a_huge_number_does_not_wrap_around() {
        let quota = SpoolQuota::new(u64::MAX - 1, FILES);
        let part = SpoolReservation::of(&quota);
        assert!(part.grow(2));
        assert!(!part.grow(u64::MAX));
    }

    #[test]
    fn files_over_the_limit_are_refused_until_another_is_dropped() {
        let quota = SpoolQuota::new(0, FILES);
        let file = || SpoolReservation::of_file(&quota);
        let mut files: Vec<_> = (0..FILES).map_while(|_| file()).collect();
        assert!(files.len() == FILES && file().is_none() && file().is_none());
        assert_eq!((quota.take_refused_files(), quota.take_refused()), (2, 0));
        files.pop();
        assert!(file().is_some());
    }

    #[test]
    fn files_of_forms_leave_half_for_other_bodies() {
        let quota = SpoolQuota::new(0, FILES);
        let _first = SpoolReservation::of_file(&quota);
        assert!(quota.has_files_to_spare());
        let _second = SpoolReservation::of_file(&quota);
        assert!(!quota.has_files_to_spare());
    }
}
