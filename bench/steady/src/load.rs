use std::{
    error::Error,
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::answer::{self, Answer};
use crate::record::Record;

/// No answer takes that long: a server that forgets one must not hold up the benchmark for ever.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Pause before a server that accepts nothing is tried again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(5);
const USAGE: &str =
    "usage: steady ADDRESS CONNECTIONS PATH SECONDS [requests=N] [rate=N] [connections=close]";

/// What is to be asked for, and how much of it has been.
#[derive(Debug)]
pub(crate) struct Load {
    address: SocketAddr,
    connections: usize,
    head: String,
    is_kept: bool,
    time: Duration,
    requests: u32,
    /// Time from the beginning of a request to that of the next one; none for as many as are answered.
    pace: Option<Duration>,
    begun: Instant,
    taken: AtomicU32,
}

impl Load {
    /// Reads the command line's words.
    pub(crate) fn parse(words: &[String]) -> Result<Load, Box<dyn Error>> {
        let [address, connections, path, seconds, options @ ..] = words else {
            return Err(USAGE.into());
        };
        let mut load = Load {
            address: address.parse()?,
            connections: connections.parse()?,
            head: String::new(),
            is_kept: true,
            time: Duration::from_secs_f64(seconds.parse()?),
            requests: u32::MAX,
            pace: None,
            begun: Instant::now(),
            taken: AtomicU32::new(0),
        };
        for option in options {
            match option.split_once('=') {
                Some(("requests", number)) => load.requests = number.parse()?,
                Some(("rate", number)) => {
                    load.pace = Some(Duration::from_secs(1).div_f64(number.parse()?));
                }
                Some(("connections", "close")) => load.is_kept = false,
                _ => return Err(USAGE.into()),
            }
        }
        load.head = load.head_for(path);
        Ok(load)
    }

    /// Makes the requests and gives what came of them.
    pub(crate) fn run(mut self) -> Record {
        self.begun = Instant::now();
        let mut record = Record::new(self.begun);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.connections)
                .map(|_| scope.spawn(|| self.work()))
                .collect();
            for client in clients {
                // A client that panicked has been reported, and its requests are missing from the answers.
                if let Ok(seen) = client.join() {
                    record.merge(seen);
                }
            }
        });
        record
    }

    fn head_for(&self, path: &str) -> String {
        let host = self.address;
        let connection = if self.is_kept { "keep-alive" } else { "close" };
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: {connection}\r\n\r\n")
    }

    /// Makes one request after the other until all are made or the time is up.
    fn work(&self) -> Record {
        let mut record = Record::new(self.begun);
        let mut connection = None;
        while let Some(due) = self.next() {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let answer = self.ask(&mut connection);
            record.add(due.elapsed(), answer.as_ref().ok());
            if answer.is_err() {
                connection = None;
                thread::sleep(RECONNECT_PAUSE);
            } else if answer.is_ok_and(|answer| !answer.is_kept) {
                connection = None;
            }
        }
        record
    }

    /// When the next request is due; none when there is none left.
    fn next(&self) -> Option<Instant> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        let due = self.pace.map_or(now, |pace| self.begun + pace * number);
        let is_left = number < self.requests && due.max(now) < self.begun + self.time;
        is_left.then_some(due)
    }

    fn ask(&self, connection: &mut Option<BufReader<TcpStream>>) -> io::Result<Answer> {
        let reader = match connection {
            Some(reader) => reader,
            None => connection.insert(self.connect()?),
        };
        reader.get_mut().write_all(self.head.as_bytes())?;
        answer::read(reader)
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        Ok(BufReader::new(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(words: &str) -> Result<Load, Box<dyn Error>> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Load::parse(&words)
    }

    #[test]
    fn as_many_requests_are_made_as_are_asked_for() {
        let load = load("127.0.0.1:1 2 / 60 requests=2").expect("valid words");
        assert!(load.next().is_some() && load.next().is_some());
        assert!(load.next().is_none());
    }

    #[test]
    fn requests_begin_at_the_rate_until_the_time_is_up() {
        let load = load("127.0.0.1:1 2 / 1 rate=2").expect("valid words");
        let due = [load.next(), load.next(), load.next()];
        let half = Duration::from_millis(500);
        assert_eq!(due, [Some(load.begun), Some(load.begun + half), None]);
    }

    #[test]
    fn a_word_that_is_not_known_is_an_error() {
        assert!(load("127.0.0.1:1 2 / 1 speed=2").is_err());
        assert!(load("127.0.0.1:1 2 /").is_err());
    }
}
