//! Requests a path over some connections for a time, and reports latencies by tenths of a second.
//!
//! `steady 127.0.0.1:9292 64 / 10` requests `/` over 64 kept connections for 10 s, and sends the next request after the
//! last response. Options follow:
//!
//! * `requests=4000` stops after that many requests; the seconds remain the limit.
//! * `rate=100` starts that many requests a second.
//! * `patience=2` gives a request up after 2 s, and closes its connection.
//! * `every=50 other=/sleep` requests `/sleep` every 50th time.
//! * `connections=close` opens a connection for each request.
//!
//! The output is a line of JSON: `started` (Unix time), `seconds` until the last response, `statuses` (number of
//! responses by status; `lost` for no complete response), `workers` (number of responses by the value of `x-worker`),
//! and `windows`: for each tenth of a second the requests that ended in it, how many of them failed, and the latencies as
//! pairs of microseconds and number.

mod load;
mod record;
mod response;

use std::{
    env,
    error::Error,
    io::{self, Write},
};

use load::Load;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let record = Load::parse(&words)?.run();
    Ok(writeln!(io::stdout(), "{}", record.to_json())?)
}
