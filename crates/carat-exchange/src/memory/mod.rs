//! The memory that clients make the edge hold, and its bound.

mod client_memory;
mod memory_reservation;
mod stream_credit;

pub use client_memory::{ClientMemory, MemoryAccount, MemoryWait};
pub use memory_reservation::MemoryReservation;
pub use stream_credit::StreamCredit;
