use std::rc::Rc;

use crate::memory::client_memory::MemoryAccount;

/// The part of `client_memory` that a buffer takes. Dropping it returns its bytes.
#[derive(Debug)]
pub struct MemoryReservation {
    account: Rc<MemoryAccount>,
    bytes: u64,
}

impl MemoryReservation {
    /// An empty reservation on the account of a client.
    pub fn of(account: &Rc<MemoryAccount>) -> MemoryReservation {
        MemoryReservation {
            account: Rc::clone(account),
            bytes: 0,
        }
    }

    /// The account that the reservation belongs to.
    pub fn account(&self) -> &Rc<MemoryAccount> {
        &self.account
    }

    /// Bytes reserved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves more bytes, even beyond the limit.
    pub fn grow(&mut self, bytes: usize) {
        self.account.take(bytes as u64);
        self.bytes += bytes as u64;
    }

    /// Reserves more bytes. Returns `false`, and reserves none, if memory is short.
    pub fn try_grow(&mut self, bytes: usize) -> bool {
        let taken = self.account.try_take(bytes as u64);
        if taken {
            self.bytes += bytes as u64;
        }
        taken
    }

    /// Returns some of the bytes.
    pub fn shrink(&mut self, bytes: usize) {
        self.account.give_back(bytes as u64);
        self.bytes -= bytes as u64;
    }

    /// Reserves exactly this many bytes, even beyond the limit.
    pub fn set(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        if bytes > self.bytes {
            self.account.take(bytes - self.bytes);
        } else {
            self.account.give_back(self.bytes - bytes);
        }
        self.bytes = bytes;
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.account.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClientMemory;

    #[test]
    fn a_reservation_grows_shrinks_and_returns_its_bytes() {
        let memory = ClientMemory::new(800);
        let account = memory.account();
        let mut reservation = MemoryReservation::of(&account);
        reservation.grow(700);
        assert!(!reservation.try_grow(1));
        assert_eq!((reservation.bytes(), account.held()), (700, 700));
        reservation.set(90);
        assert!(reservation.try_grow(10));
        assert_eq!((reservation.bytes(), memory.used()), (100, 100));
        drop(reservation);
        assert_eq!((account.held(), memory.used()), (0, 0));
    }
}
