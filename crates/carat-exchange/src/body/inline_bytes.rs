use std::rc::Rc;

use crate::memory::{MemoryAccount, MemoryReservation};

/// A body in memory.
#[derive(Debug)]
pub struct InlineBytes {
    bytes: Vec<u8>,
    /// The memory reserved for `bytes`.
    reservation: MemoryReservation,
}

impl InlineBytes {
    /// An empty body, whose memory counts for this client.
    pub fn new(account: &Rc<MemoryAccount>) -> InlineBytes {
        InlineBytes {
            bytes: Vec::new(),
            reservation: MemoryReservation::of(account),
        }
    }

    /// A body that the edge made itself. Its memory is granted even beyond the limit.
    pub fn granted(bytes: Vec<u8>, account: &Rc<MemoryAccount>) -> InlineBytes {
        let mut reservation = MemoryReservation::of(account);
        reservation.grow(bytes.capacity());
        InlineBytes { bytes, reservation }
    }

    /// Appends `data`. Returns `false` without a change when the body would exceed `limit` bytes or memory is short.
    pub fn push(&mut self, data: &[u8], limit: usize) -> bool {
        let length = self.bytes.len() + data.len();
        if length > limit || !self.make_room(length, limit) {
            return false;
        }
        self.bytes.extend_from_slice(data);
        true
    }

    fn make_room(&mut self, length: usize, limit: usize) -> bool {
        let capacity = self.bytes.capacity();
        if length <= capacity {
            return true;
        }
        let wanted = length.next_power_of_two().min(limit);
        if !self.reservation.try_grow(wanted - capacity) {
            return false;
        }
        self.bytes.reserve_exact(wanted - self.bytes.len());
        true
    }

    /// The bytes of the body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes of the body and the memory reserved for them.
    pub fn into_parts(self) -> (Vec<u8>, MemoryReservation) {
        (self.bytes, self.reservation)
    }
}

#[cfg(any(test, feature = "fixture"))]
impl InlineBytes {
    /// A body of a client without a limit.
    pub fn plain(bytes: &[u8]) -> InlineBytes {
        let memory = crate::ClientMemory::new(u64::MAX);
        let mut body = InlineBytes::new(&memory.account());
        assert!(body.push(bytes, usize::MAX));
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientMemory;

    #[test]
    fn a_body_takes_what_it_has_room_for_and_returns_it() {
        let memory = ClientMemory::new(800);
        let mut body = InlineBytes::new(&memory.account());
        assert!(body.push(&[1; 100], 300));
        assert_eq!(memory.used(), 128);
        assert!(body.push(&[2; 100], 300) && body.push(&[3; 100], 300));
        assert_eq!(memory.used(), 300);
        assert_eq!((body.bytes().len(), body.bytes()[299]), (300, 3));
        drop(body);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_body_that_is_too_large_or_has_no_memory_stays_as_it_is() {
        let memory = ClientMemory::new(400);
        let mut body = InlineBytes::new(&memory.account());
        assert!(body.push(&[1; 200], 1000));
        assert!(!body.push(&[2; 200], 1000), "memory is short");
        assert!(!body.push(&[2; 200], 250), "it is too large");
        assert_eq!(body.bytes(), [1; 200]);
    }
}
