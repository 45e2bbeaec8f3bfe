use carat_exchange::MemoryReservation;
use tokio::io::ReadBuf;

/// Bytes that were read and that h2 has not got yet: those for which it has no room, and behind
/// them a header block that is not complete.
pub(super) struct HeldBytes {
    bytes: Vec<u8>,
    /// How many of the bytes h2 may have.
    admitted: usize,
    room: MemoryReservation,
}

impl HeldBytes {
    pub(super) fn new(room: MemoryReservation) -> HeldBytes {
        HeldBytes {
            bytes: Vec::new(),
            admitted: 0,
            room,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Checks the bytes that were read by `pass`, which returns how many h2 may have. Returns how
    /// many bytes h2 may take from `received`; the others are held, behind the ones before.
    pub(super) fn admit(
        &mut self,
        received: &mut [u8],
        pass: impl FnOnce(&mut [u8]) -> usize,
    ) -> usize {
        let staying = if self.is_empty() {
            let admitted = pass(received);
            self.bytes.extend_from_slice(&received[admitted..]);
            admitted
        } else {
            self.bytes.extend_from_slice(received);
            self.admitted = pass(&mut self.bytes);
            0
        };
        self.room.set(self.bytes.capacity());
        staying
    }

    /// Gives h2 the bytes that it may have, as far as there is room. Returns whether there were
    /// any.
    pub(super) fn hand_out(&mut self, room: &mut ReadBuf<'_>) -> bool {
        let count = self.admitted.min(room.remaining());
        if count == 0 {
            return false;
        }
        room.put_slice(&self.bytes[..count]);
        self.bytes.drain(..count);
        self.admitted -= count;
        if self.is_empty() {
            self.bytes = Vec::new();
            self.room.set(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_exchange::ClientMemory;

    #[test]
    fn what_waits_counts_until_h2_has_it() {
        let memory = ClientMemory::new(u64::MAX);
        let mut held = HeldBytes::new(MemoryReservation::of(&memory.account()));
        let mut room = [0; 4];
        assert_eq!(
            held.admit(&mut b"passes".to_owned(), |bytes| bytes.len()),
            6
        );
        assert!(held.is_empty() && memory.used() == 0);
        assert_eq!(held.admit(&mut b"ab".to_owned(), |_| 1), 1);
        assert!(!held.hand_out(&mut ReadBuf::new(&mut room)));
        assert!(memory.used() >= 1);
        let all = |bytes: &mut [u8]| {
            assert_eq!(bytes, b"bcdefg");
            5
        };
        assert_eq!(held.admit(&mut b"cdefg".to_owned(), all), 0);
        for expected in [&b"bcde"[..], b"f"] {
            let mut room = ReadBuf::new(&mut room);
            assert!(held.hand_out(&mut room));
            assert_eq!(room.filled(), expected);
        }
        assert_eq!(held.admit(&mut [], |_| 1), 0);
        assert!(held.hand_out(&mut ReadBuf::new(&mut room)));
        assert!(held.is_empty() && memory.used() == 0);
    }
}
