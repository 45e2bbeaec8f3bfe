//! A deterministic simulation of the server: the real dispatcher, lanes and supervisor, over real sockets, with a clock,
//! processes, clients and faults that depend on a seed alone.
//!
//! Every seed is a test. A ledger of all requests says what must not happen: a request that vanishes, one that runs twice,
//! a buffer without a bound, a server that does not recover or does not stop. `CARAT_SIM_SEED=7 cargo test -p carat-edge
//! simulation -- --nocapture` repeats one seed and prints what happens.

mod checks;
mod client;
mod fault;
mod host;
mod lane;
mod ledger;
mod page;
mod process;
mod random;
mod reading;
mod scenario;
mod schedule;
mod script;
mod served_request;
mod server_run;
mod socket;
mod tasks_waker;
mod tests;
mod trace;
mod upload;
mod wire;
mod worker;
mod world;
