//! The division of a limit of open files.

/// Descriptors for other purposes: listeners, logs, the runtime, molds, `carat memory`, files in `/proc`, and the first
/// files of responses that wait to be closed.
const RESERVE: usize = 64;

/// The fewest descriptors for clients with which the server starts.
const LEAST: usize = 10;

/// The divisor of the descriptors that are left for clients: that part is for request bodies and further responses.
const SHARED_PART: usize = 5;

/// The most descriptors for request bodies and further responses, unless clients leave some of theirs.
const SHARED_MOST: usize = 1400;

/// The most further files of responses that wait to be closed.
const CLOSING_MOST: usize = 1024;

/// How many descriptors the edge spends on clients. All of them together stay below the edge's limit of open files. So
/// there is always a descriptor for the file of a response, and for replacing the Ruby processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorBudget {
    /// Client connections.
    pub connections: usize,
    /// Files of responses: at least one for each connection. Requests whose clients are gone may have more.
    pub replies: usize,
    /// Files of further responses, on connections that have one already.
    pub further_replies: usize,
    /// Files of responses that wait to be closed, beyond the ones that the reserve covers.
    pub closing: usize,
    /// Files of request bodies.
    pub spools: usize,
}

impl DescriptorBudget {
    /// Divides `limit` descriptors among at most `max_connections` clients. The descriptors for up to `workers` workers
    /// with `lanes` lanes each are set aside first. `None` if hardly any are left for clients.
    pub fn new(
        limit: usize,
        max_connections: usize,
        workers: u32,
        lanes: u16,
    ) -> Option<DescriptorBudget> {
        let processes = of_processes(workers, lanes);
        let left = limit.saturating_sub(RESERVE + processes);
        if left < LEAST {
            return None;
        }
        let shared = (left / SHARED_PART).min(SHARED_MOST);
        let connections = max_connections.min((left - shared) / 2);
        let rest = left - connections * 2;
        let spools = (left / 10).min(rest / 2);
        let further_replies = (rest - spools) / 2;
        let closing = ((rest - spools - further_replies) / 2).min(CLOSING_MOST);
        Some(DescriptorBudget {
            connections,
            replies: left - spools - connections - further_replies - closing,
            further_replies,
            closing,
            spools,
        })
    }
}

/// The descriptors of the workers: a control socket for each worker, and a socket and a page for each lane. They count
/// twice, because the edge holds the other ends until the mold has them, and because a draining worker has its own
/// beside those of its successor.
fn of_processes(workers: u32, lanes: u16) -> usize {
    let most = workers as usize * 2 + 2;
    most.saturating_mul(1 + 2 * usize::from(lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_together_stay_below_the_limit() {
        for limit in [100, 256, 1024, 4096, 20_000, 65_536, 1_048_576] {
            for max_connections in [1, 100, 16_384] {
                let Some(budget) = DescriptorBudget::new(limit, max_connections, 2, 3) else {
                    assert!(limit < 256);
                    continue;
                };
                let replies = budget.replies + budget.further_replies + budget.closing;
                let parts = budget.connections + replies + budget.spools;
                assert_eq!(parts + RESERVE + of_processes(2, 3), limit);
                assert!(budget.replies >= budget.connections && budget.connections > 0);
                assert!(budget.spools > 0 && budget.connections <= max_connections);
                assert!(budget.further_replies > 0);
            }
        }
    }

    #[test]
    fn an_ordinary_limit_allows_every_client() {
        let budget = DescriptorBudget::new(65_536, 16_384, 16, 5).expect("enough");
        assert_eq!(budget.connections, 16_384);
    }

    #[test]
    fn a_limit_of_20_000_allows_9_000_clients() {
        let budget = DescriptorBudget::new(20_000, 16_384, 32, 3).expect("enough");
        assert!(budget.connections >= 9_000, "{budget:?}");
        let holds = budget.spools >= 700 && budget.further_replies >= 350;
        assert!(holds, "{budget:?}");
    }

    #[test]
    fn a_limit_without_room_for_clients_allows_nothing() {
        let processes = of_processes(2, 3);
        assert_eq!(processes, 42);
        let least = RESERVE + processes + LEAST;
        assert!(DescriptorBudget::new(least, 1, 2, 3).is_some());
        assert!(DescriptorBudget::new(least - 1, 1, 2, 3).is_none());
        assert!(DescriptorBudget::new(1024, 1, u32::MAX, u16::MAX).is_none());
    }
}
