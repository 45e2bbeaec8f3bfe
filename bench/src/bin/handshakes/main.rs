//! Opens TLS 1.3 connections, one after the other on each of some threads, and counts them.
//!
//! `handshakes 127.0.0.1:9443 4 5 full` connects for 5 s on four threads; `resumed` in place of `full` shows the ticket of
//! the previous connection. A connection counts when a ticket of the server has arrived, so that the server has completed
//! the handshake, too; then the client closes it. The client is as cheap as it can be, because it shares the machine with
//! the server: it believes every certificate.
//!
//! The output is a line of JSON: `connections`, how many of them were `resumed`, how many `failed`, and `seconds`.

mod any_certificate;
mod client;
mod tickets;

use std::{
    env,
    error::Error,
    io::{self, Write},
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use client::{Client, Count};
use serde_json::json;

const USAGE: &str = "usage: handshakes ADDRESS THREADS SECONDS full|resumed";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [address, threads, seconds, kind] = &words[..] else {
        return Err(USAGE.into());
    };
    let is_resumed = match kind.as_str() {
        "full" => false,
        "resumed" => true,
        _ => return Err(USAGE.into()),
    };
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds.parse()?);
    let count = connect(address.parse()?, threads.parse()?, end, is_resumed)?;
    let report = json!({
        "connections": count.connections,
        "resumed": count.resumed,
        "failed": count.failed,
        "seconds": started.elapsed().as_secs_f64(),
    });
    Ok(writeln!(io::stdout(), "{report}")?)
}

/// Connects on so many threads until `end`.
fn connect(
    address: SocketAddr,
    threads: usize,
    end: Instant,
    is_resumed: bool,
) -> Result<Count, rustls::Error> {
    let clients: Vec<_> = (0..threads)
        .map(|_| Client::new(address, is_resumed))
        .collect::<Result<_, _>>()?;
    Ok(thread::scope(|scope| {
        let running: Vec<_> = clients
            .iter()
            .map(|client| scope.spawn(|| client.connect_until(end)))
            .collect();
        // A thread that panicked has been reported, and its connections are missing from the count.
        running
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .sum()
    }))
}
