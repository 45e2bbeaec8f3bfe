//! A deterministic simulation of the server: the real dispatcher, lanes and supervisor, over real sockets, with a clock,
//! processes, clients and faults that depend on a seed alone.
//!
//! Every seed is a test. A ledger of all requests says what must not happen: a request that is lost, a request that
//! runs twice, a buffer without a bound, a server that does not recover or does not stop. `CARAT_SIM_SEED=7 cargo test
//! -p carat-edge simulation -- --nocapture` repeats one seed and prints what happens.

#![cfg_attr(
    not(feature = "cable"),
    allow(dead_code, unused_imports, reason = "its clients are not built")
)]

#[cfg(feature = "cable")]
mod cable_client;
mod checks;
mod client;
mod collector;
mod console_client;
mod fault;
mod plan;
mod processes;
mod rest_watch;
mod server_run;
mod tasks_waker;
mod tests;
mod world;
