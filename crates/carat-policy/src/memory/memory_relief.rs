//! The choice of the connections that give their memory back when clients hold too much of it.

use std::cmp::Reverse;

/// A connection that has moved fewer bytes than this between the last two looks makes no progress.
const SLOW_BYTES: u64 = 256;

/// What a connection that holds memory waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HolderStage {
    /// The connection waits for the next request. It can be parked.
    Idle,
    /// The connection waits for the client to send or to read.
    Client,
    /// The connection waits for memory for more of a request.
    Paused,
    /// The connection is a tunnel whose other end is the edge itself. The memory that it holds stays, however much
    /// passes through it.
    Tunnel,
}

/// A connection that holds memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MemoryHolder {
    /// What the connection waits for.
    pub stage: HolderStage,
    /// Bytes that it holds.
    pub held: u64,
    /// Bytes that it received and sent between the last two looks; the greatest number for a new connection.
    pub moved: u64,
}

/// How much memory clients hold, and how much more they need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MemoryDemand {
    /// Bytes that clients may hold.
    pub limit: u64,
    /// Bytes that clients hold.
    pub used: u64,
    /// The bytes that paused connections need and have waited for too long; 0 for none.
    pub wanted: u64,
    /// Bytes that the first of the paused connections waits for.
    pub wanted_first: u64,
}

impl MemoryDemand {
    /// How many bytes bodies, buffers, and decoders may take. The rest is for uses that cannot be refused.
    pub fn comfortable(limit: u64) -> u64 {
        limit / 4 * 3
    }

    /// How many bytes may be used when the headers of a request need more.
    pub fn for_headers(limit: u64) -> u64 {
        limit / 8 * 7
    }

    /// The target of relief: how many bytes may be used after connections of this group are relieved.
    fn target(&self, group: HolderGroup) -> u64 {
        match group {
            HolderGroup::Idle | HolderGroup::Slow => {
                MemoryDemand::comfortable(self.limit).saturating_sub(self.wanted)
            }
            HolderGroup::Paused if self.wanted > 0 => {
                let room = self.wanted_first.max(self.limit / 8).min(self.wanted);
                MemoryDemand::for_headers(self.limit).saturating_sub(room)
            }
            HolderGroup::Paused | HolderGroup::Moving => self.limit,
        }
    }
}

/// The groups of connections, in the order in which they are relieved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HolderGroup {
    Idle,
    Slow,
    Paused,
    Moving,
}

impl HolderGroup {
    fn of(holder: &MemoryHolder) -> HolderGroup {
        match holder.stage {
            HolderStage::Idle => HolderGroup::Idle,
            HolderStage::Paused => HolderGroup::Paused,
            HolderStage::Tunnel => HolderGroup::Slow,
            HolderStage::Client if holder.moved < SLOW_BYTES => HolderGroup::Slow,
            HolderStage::Client => HolderGroup::Moving,
        }
    }
}

/// The indices of the connections that have to end, in this order: first idle connections; then tunnels to the edge,
/// and connections whose clients do nothing, the largest first; then paused connections; and only above the limit
/// connections that make progress.
pub fn relief(holders: &[MemoryHolder], demand: &MemoryDemand) -> Vec<usize> {
    let mut order: Vec<usize> = (0..holders.len()).collect();
    order.sort_by_key(|index| {
        let holder = &holders[*index];
        let group = HolderGroup::of(holder);
        // A paused connection cannot move bytes, so the bytes that it holds show its progress.
        let progress = match group {
            HolderGroup::Paused => holder.held,
            HolderGroup::Idle | HolderGroup::Moving => holder.moved,
            // There is no progress to compare. The largest connections go first: a client that has just begun holds
            // little.
            HolderGroup::Slow => 0,
        };
        (group, progress, Reverse(holder.held), holder.moved)
    });
    let mut used = demand.used;
    order.retain(|index| {
        let holder = &holders[*index];
        let goes = holder.held > 0 && used > demand.target(HolderGroup::of(holder));
        if goes {
            used = used.saturating_sub(holder.held);
        }
        goes
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(stage: HolderStage, held: u64, moved: u64) -> MemoryHolder {
        MemoryHolder { stage, held, moved }
    }

    fn waiting(held: u64, moved: u64) -> MemoryHolder {
        holder(HolderStage::Client, held, moved)
    }

    fn paused(held: u64) -> MemoryHolder {
        holder(HolderStage::Paused, held, 0)
    }

    fn demand(used: u64) -> MemoryDemand {
        MemoryDemand {
            limit: 800,
            used,
            wanted: 0,
            wanted_first: 0,
        }
    }

    #[test]
    fn within_the_limits_nobody_goes() {
        assert!(relief(&[], &demand(900)).is_empty());
        assert!(relief(&[waiting(100, 0)], &demand(600)).is_empty());
        assert!(relief(&[waiting(700, SLOW_BYTES), paused(100)], &demand(800)).is_empty());
    }

    #[test]
    fn silent_connections_go_until_there_is_room_again_the_slowest_first() {
        let holders = [
            waiting(100, 9),
            waiting(100, 0),
            waiting(100, 5),
            waiting(500, 9000),
        ];
        assert_eq!(relief(&holders, &demand(810)), [1, 2, 0]);
        assert_eq!(relief(&holders, &demand(650)), [1]);
    }

    #[test]
    fn among_silent_connections_those_that_hold_most_go_first() {
        let holders = [waiting(100, 0), waiting(400, 9), waiting(300, 0)];
        assert_eq!(relief(&holders, &demand(801)), [1]);
    }

    #[test]
    fn idle_connections_are_parked_before_any_is_refused() {
        let holders = [waiting(100, 0), holder(HolderStage::Idle, 100, 50_000)];
        assert_eq!(relief(&holders, &demand(690)), [1]);
        assert_eq!(relief(&holders, &demand(801)), [1, 0]);
    }

    #[test]
    fn connections_that_make_progress_go_only_above_the_limit() {
        let holders = [waiting(300, 9000), waiting(300, 2000), waiting(300, 5000)];
        assert_eq!(relief(&holders, &demand(900)), [1]);
        assert!(relief(&holders, &demand(800)).is_empty());
    }

    #[test]
    fn paused_connections_wait_while_silent_ones_make_room_for_all_of_them() {
        let holders = [
            paused(100),
            waiting(200, 0),
            waiting(200, 0),
            waiting(200, 9000),
        ];
        let demand = MemoryDemand {
            wanted: 300,
            wanted_first: 100,
            ..demand(700)
        };
        assert_eq!(relief(&holders, &demand), [1, 2]);
    }

    #[test]
    fn a_tunnel_that_holds_goes_before_who_asks_however_much_passes_through_it() {
        let tunnel = |held| holder(HolderStage::Tunnel, held, u64::MAX);
        let holders = [paused(10), tunnel(200), tunnel(300), tunnel(20)];
        let demand = MemoryDemand {
            wanted: 10,
            wanted_first: 10,
            ..demand(700)
        };
        assert_eq!(relief(&holders, &demand), [2]);
    }

    #[test]
    fn when_all_are_paused_those_with_the_least_give_way_to_the_first() {
        let holders = [paused(300), paused(100), paused(300)];
        let gone = |wanted_first| {
            let demand = MemoryDemand {
                wanted: 700,
                wanted_first,
                ..demand(700)
            };
            relief(&holders, &demand)
        };
        assert_eq!(gone(50), [1]);
        assert_eq!(gone(110), [1, 0]);
    }

    #[test]
    fn a_connection_that_holds_nothing_is_left_alone() {
        assert!(relief(&[waiting(0, 0)], &demand(900)).is_empty());
    }
}
