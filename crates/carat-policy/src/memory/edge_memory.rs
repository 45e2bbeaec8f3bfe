//! The edge's share of the memory budget.

/// The memory of the edge in bytes, at one reading.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct EdgeMemory {
    /// The whole memory of the edge, including what is swapped out.
    pub total: u64,
    /// The memory that no file backs.
    pub anonymous: u64,
    /// The memory that clients make the edge hold.
    pub clients: u64,
}

/// The edge's share of the memory budget: the memory that the edge needs by itself, and all the memory that clients may
/// make it hold. The latter is reserved from the start, so that no worker has to end to make room for clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EdgeReserve {
    /// The least memory that the edge was seen to need without clients. It is not the memory of the last reading,
    /// because after many clients have left, an allocator keeps memory that is not needed.
    own: Option<u64>,
}

impl EdgeReserve {
    /// Takes a reading into account.
    pub fn note(&mut self, edge: &EdgeMemory) {
        let own = edge.total.saturating_sub(edge.clients);
        self.own = Some(self.own.map_or(own, |known| known.min(own)));
    }

    /// The reserve in bytes.
    pub fn bytes(&self, client_memory: u64) -> u64 {
        self.own.unwrap_or(0).saturating_add(client_memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_counts_the_same_whatever_clients_make_it_hold() {
        let mut reserve = EdgeReserve::default();
        assert_eq!(reserve.bytes(40), 40);
        for (total, clients) in [(5, 0), (44, 39), (30, 0), (9, 2)] {
            reserve.note(&EdgeMemory {
                total,
                anonymous: total,
                clients,
            });
            assert_eq!(reserve.bytes(40), 45);
        }
    }
}
