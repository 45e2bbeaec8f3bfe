//! Makes so many requests, so many at once, each on a connection of its own, and says how long that took.
//!
//! `burst 127.0.0.1:9292 1000 200 / 50 /sleep` makes 1000 requests from 200 threads; every 50th is for `/sleep`, the
//! others are for `/`. It prints `seconds=1.234567 ok=1000`: the time from the first request to the last answer, and how
//! many answers were whole and had status 200. With 0 in place of 50 no request is for `/sleep`.

use std::{
    env,
    error::Error,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// No answer takes that long: a server that forgets one must not hold up the benchmark for ever.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
const OK: &[u8] = b"HTTP/1.1 200 ";

/// What is to be asked for, and what has been.
struct Burst {
    address: SocketAddr,
    requests: usize,
    path: String,
    every: usize,
    other: String,
    taken: AtomicUsize,
    ok: AtomicUsize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [address, requests, at_once, path, every, other] = words.as_slice() else {
        return Err("usage: burst ADDRESS REQUESTS AT_ONCE PATH EVERY OTHER_PATH".into());
    };
    let burst = Burst {
        address: address.parse()?,
        requests: requests.parse()?,
        path: path.clone(),
        every: every.parse()?,
        other: other.clone(),
        taken: AtomicUsize::new(0),
        ok: AtomicUsize::new(0),
    };
    let seconds = burst.run(at_once.parse()?).as_secs_f64();
    let ok = burst.ok.into_inner();
    Ok(writeln!(io::stdout(), "seconds={seconds:.6} ok={ok}")?)
}

impl Burst {
    /// The time from the first request to the last answer.
    fn run(&self, at_once: usize) -> Duration {
        let barrier = Barrier::new(at_once + 1);
        thread::scope(|scope| {
            let clients: Vec<_> = (0..at_once)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        self.work();
                    })
                })
                .collect();
            barrier.wait();
            let start = Instant::now();
            for client in clients {
                // A client that panicked has been reported, and its requests are missing from the answers.
                let _ = client.join();
            }
            start.elapsed()
        })
    }

    /// Makes one request after the other until all are made.
    fn work(&self) {
        loop {
            let number = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
            if number > self.requests {
                return;
            }
            let turn = self.every != 0 && number % self.every == 0;
            let path = if turn { &self.other } else { &self.path };
            if self.ask(path).is_ok_and(|answer| whole(&answer)) {
                self.ok.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Everything that the server sends.
    fn ask(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        let host = self.address;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(answer)
    }
}

/// Whether the answer has status 200 and all of its body.
fn whole(answer: &[u8]) -> bool {
    let Some(head) = answer.windows(4).position(|end| end == b"\r\n\r\n") else {
        return false;
    };
    let length = String::from_utf8_lossy(&answer[..head])
        .to_ascii_lowercase()
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    answer.starts_with(OK) && length == Some(answer.len() - head - 4)
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn an_answer_is_whole_with_status_200_and_all_of_its_body() {
        assert!(whole(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"));
        assert!(!whole(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\non"));
        assert!(!whole(b"HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\none"));
        assert!(!whole(b"HTTP/1.1 200 OK\r\n"));
    }
}
