use std::{
    error::Error,
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::record::Record;
use crate::response::{self, Response};

/// Longer than any response takes. A server that loses a request must not stop the benchmark.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(120);
/// Pause after a request without a response.
const RECONNECT_PAUSE: Duration = Duration::from_millis(5);
const USAGE: &str = "usage: steady ADDRESS CONNECTIONS PATH SECONDS \
    [requests=N] [rate=N] [patience=SECONDS] [every=N other=PATH] [connections=close]";

/// What to request, and how much of it has been requested.
#[derive(Debug)]
pub(crate) struct Load {
    address: SocketAddr,
    connections: usize,
    path: String,
    /// Requested in place of `path` every so many times; 0 for never.
    other: String,
    every: u32,
    is_kept: bool,
    /// How long a client waits for its connection, and then for its response.
    patience: Duration,
    time: Duration,
    requests: u32,
    /// Time between the starts of two requests; none to send the next request after a response.
    pace: Option<Duration>,
    started: Instant,
    taken: AtomicU32,
}

impl Load {
    /// Parses the command line.
    pub(crate) fn parse(words: &[String]) -> Result<Load, Box<dyn Error>> {
        let [address, connections, path, seconds, options @ ..] = words else {
            return Err(USAGE.into());
        };
        let mut load = Load {
            address: address.parse()?,
            connections: connections.parse()?,
            path: path.clone(),
            other: String::new(),
            every: 0,
            is_kept: true,
            patience: RESPONSE_TIMEOUT,
            time: Duration::from_secs_f64(seconds.parse()?),
            requests: u32::MAX,
            pace: None,
            started: Instant::now(),
            taken: AtomicU32::new(0),
        };
        for option in options {
            load.set(option)?;
        }
        Ok(load)
    }

    fn set(&mut self, option: &str) -> Result<(), Box<dyn Error>> {
        match option.split_once('=') {
            Some(("requests", number)) => self.requests = number.parse()?,
            Some(("rate", number)) => {
                self.pace = Some(Duration::from_secs(1).div_f64(number.parse()?));
            }
            Some(("patience", seconds)) => {
                self.patience = Duration::from_secs_f64(seconds.parse()?);
            }
            Some(("every", number)) => self.every = number.parse()?,
            Some(("other", path)) => path.clone_into(&mut self.other),
            Some(("connections", "close")) => self.is_kept = false,
            _ => return Err(USAGE.into()),
        }
        Ok(())
    }

    /// Sends the requests and returns what happened.
    pub(crate) fn run(mut self) -> Record {
        self.started = Instant::now();
        let mut record = Record::new(self.started);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.connections)
                .map(|_| scope.spawn(|| self.work()))
                .collect();
            for client in clients {
                // A client that panicked has been reported, and its requests are missing from the record.
                if let Ok(seen) = client.join() {
                    record.merge(seen);
                }
            }
        });
        record
    }

    /// The request line and headers of the request with this number.
    fn head(&self, number: u32) -> String {
        let is_other = self.every != 0 && (number + 1) % self.every == 0;
        let path = if is_other { &self.other } else { &self.path };
        let host = self.address;
        let connection = if self.is_kept { "keep-alive" } else { "close" };
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: {connection}\r\n\r\n")
    }

    /// Sends one request after the other until all are sent or the time is up.
    fn work(&self) -> Record {
        let mut record = Record::new(self.started);
        let mut connection = None;
        while let Some((number, due)) = self.next() {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let response = self.request(&self.head(number), &mut connection);
            record.add(due.elapsed(), response.as_ref().ok());
            if response.is_err() {
                connection = None;
                thread::sleep(RECONNECT_PAUSE);
            } else if response.is_ok_and(|response| !response.is_kept) {
                connection = None;
            }
        }
        record
    }

    /// The number of the next request and when it is due; none when no request is left.
    fn next(&self) -> Option<(u32, Instant)> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        let due = self.pace.map_or(now, |pace| self.started + pace * number);
        let is_left = number < self.requests && due.max(now) < self.started + self.time;
        is_left.then_some((number, due))
    }

    fn request(
        &self,
        head: &str,
        connection: &mut Option<BufReader<TcpStream>>,
    ) -> io::Result<Response> {
        let reader = match connection {
            Some(reader) => reader,
            None => connection.insert(self.connect()?),
        };
        reader.get_mut().write_all(head.as_bytes())?;
        response::read(reader)
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.address, self.patience)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.patience))?;
        Ok(BufReader::new(stream))
    }
}
