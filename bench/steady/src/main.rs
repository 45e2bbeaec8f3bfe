//! Asks for one path over some connections for a time, and says how long answers took in each tenth of a second.
//!
//! `steady 127.0.0.1:9292 64 / 10` asks for `/` over 64 kept connections for 10 s, the next request when the last is
//! answered. `requests=4000` makes so many requests and then ends (the seconds remain the most it may take), `rate=100` begins so
//! many a second, `connections=close` opens a connection for each request. A line of JSON says when the first window began (`begun`, Unix time),
//! what the answers were (`statuses`: 200 is a whole answer with that status, `lost` none at all), how many came from
//! which worker (`workers`, where answers have a field `x-worker`), and `windows`: for each the requests that ended in it,
//! those of them that failed, and the latencies as pairs of microseconds and number.

mod answer;
mod load;
mod record;

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
