/// The most streams that may end without a complete response before the connection is closed. A
/// browser cancels all requests of a page at once.
const RESETS_LIMIT: u32 = 200;
/// How many more streams may end in this way in each tick of 100 ms.
const TICK_CREDIT: u32 = 2;

/// Counts the streams that a client has made end early: by resets (CVE-2023-44487), and by frames
/// that must be responded to with a reset (CVE-2025-8671). A request that is refused with a
/// response does not count: behind a proxy, the connection has other clients.
pub(crate) struct ResetBudget {
    credit: u32,
    tick: u32,
}

impl ResetBudget {
    pub(crate) fn new(tick: u32) -> ResetBudget {
        ResetBudget {
            credit: RESETS_LIMIT,
            tick,
        }
    }

    /// Notes that a request got its response.
    pub(crate) fn note_complete(&mut self) {
        self.credit = (self.credit + 1).min(RESETS_LIMIT);
    }

    /// Notes that a stream ended early. Returns `false` when too many have.
    pub(crate) fn note_broken(&mut self, tick: u32) -> bool {
        let ticks = tick.saturating_sub(self.tick);
        self.tick = tick;
        let credit = self
            .credit
            .saturating_add(ticks.saturating_mul(TICK_CREDIT));
        let left = credit.min(RESETS_LIMIT).checked_sub(1);
        self.credit = left.unwrap_or(0);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_full_of_requests_may_be_canceled_but_not_page_after_page() {
        let mut resets = ResetBudget::new(0);
        assert!((0..200).all(|_| resets.note_broken(0)));
        assert!(!resets.note_broken(0));
        assert!((0..TICK_CREDIT).all(|_| resets.note_broken(1)));
        assert!(!resets.note_broken(1));
        resets.note_complete();
        assert!(resets.note_broken(1) && !resets.note_broken(1));
    }

    #[test]
    fn what_was_not_used_cannot_be_saved_up() {
        let mut resets = ResetBudget::new(0);
        (0..10 * RESETS_LIMIT).for_each(|_| resets.note_complete());
        let broken = (0..10 * RESETS_LIMIT).filter(|_| resets.note_broken(u32::MAX));
        assert_eq!(broken.count(), RESETS_LIMIT as usize);
    }
}
