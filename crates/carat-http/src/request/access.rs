use std::cell::OnceCell;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use http::header::{REFERER, USER_AGENT};
use http::{HeaderValue, StatusCode, Version};
use serde_json::json;

use crate::request::finished_request::{FinishedRequest, RequestObserver};
use carat_exchange::{Call, Peer, Refusal, RequestTimes};
use carat_log::{Log, Timestamp, json_printable};
use carat_settings::LogFormat;

/// The status of a request whose client closed the connection before the response, as in nginx.
const CLIENT_GONE: u16 = 499;

/// Writes a line for each request when the `access_log` option is on, and shows requests to those who observe them.
#[derive(Debug, Clone)]
pub struct AccessLog {
    log: Option<Rc<Log>>,
    /// Set once, when the server starts.
    observers: Rc<OnceCell<Observers>>,
}

type Observers = Box<[Rc<dyn RequestObserver>]>;

/// The log line of one request. It is written, and shown to observers, when it is dropped. `None` if there is neither a
/// log nor an observer.
#[derive(Debug, Default)]
pub struct AccessEntry(Option<Box<AccessLine>>);

#[derive(Debug)]
struct AccessLine {
    access_log: AccessLog,
    /// `took` and `status` are complete in the end.
    finished: FinishedRequest,
    remote: String,
    /// The target of the request; `None` if it was not understood. Boxed, so that a request that is only counted moves
    /// few bytes.
    request: Option<Box<LoggedTarget>>,
    bytes: usize,
}

#[derive(Debug)]
struct LoggedTarget {
    method: String,
    target: String,
    version: Version,
    referer: Option<HeaderValue>,
    user_agent: Option<HeaderValue>,
}

impl AccessLog {
    pub(crate) fn new(log: &Rc<Log>, enabled: bool) -> AccessLog {
        AccessLog {
            log: enabled.then(|| Rc::clone(log)),
            observers: Rc::default(),
        }
    }

    /// Sets the observers, which see each request from now on.
    pub(crate) fn show_to(&self, observers: Observers) {
        if !observers.is_empty() {
            // A server starts once.
            let _ = self.observers.set(observers);
        }
    }

    fn observers(&self) -> &[Rc<dyn RequestObserver>] {
        self.observers.get().map_or(&[], |all| &all[..])
    }

    /// Starts the line of a request.
    pub fn start(&self, call: &mut Call) -> AccessEntry {
        let Some(mut line) = self.line() else {
            return AccessEntry(None);
        };
        for observer in self.observers() {
            observer.begin(call, &mut line.finished.slots);
        }
        if self.log.is_some() {
            let parts = &call.parts;
            let request = LoggedTarget {
                method: parts.method.to_string(),
                target: parts.uri.to_string(),
                version: parts.version,
                referer: parts.headers.get(REFERER).cloned(),
                user_agent: parts.headers.get(USER_AGENT).cloned(),
            };
            line.request = Some(Box::new(request));
            call.logged().clone_into(&mut line.remote);
        }
        AccessEntry(Some(line))
    }

    /// Writes the line of a request that was refused before hyper saw it.
    pub(crate) fn refused(&self, peer: &Peer, refusal: Refusal) {
        drop(self.start_refused(peer, refusal));
    }

    /// Starts the line of a request that was not understood.
    pub(crate) fn start_refused(&self, peer: &Peer, refusal: Refusal) -> AccessEntry {
        let mut line = self.line();
        if let (Some(line), Some(_)) = (&mut line, &self.log) {
            peer.logged().clone_into(&mut line.remote);
        }
        let mut entry = AccessEntry(line);
        entry.responded(refusal.status());
        entry.refused(refusal);
        entry
    }

    /// A line without content; `None` if there is neither a log nor an observer.
    fn line(&self) -> Option<Box<AccessLine>> {
        if self.log.is_none() && self.observers.get().is_none() {
            return None;
        }
        Some(Box::new(AccessLine {
            access_log: self.clone(),
            finished: FinishedRequest::begin(),
            remote: String::new(),
            request: None,
            bytes: 0,
        }))
    }
}

impl AccessEntry {
    /// Records that the edge refused the request.
    pub fn refused(&mut self, refusal: Refusal) {
        if let Some(line) = &mut self.0 {
            line.finished.reason = Some(refusal.reason());
            line.finished.refusal = Some(refusal);
        }
    }

    /// Writes a line now, besides the one at the end: the request has become a socket, which may stay open for days.
    pub fn opened(&mut self) {
        if let Some(line) = &mut self.0 {
            line.finished.reason = Some("socket opened");
            line.write();
            line.finished.reason = None;
        }
    }

    /// Records why a socket has ended.
    pub fn ended(&mut self, reason: &'static str) {
        if let Some(line) = &mut self.0 {
            line.finished.reason = Some(reason);
        }
    }

    /// Records how long the request waited in the queue, for the application, and for garbage collections.
    pub fn timed(&mut self, times: RequestTimes) {
        if let Some(line) = &mut self.0 {
            let finished = &mut line.finished;
            finished.times = times;
            finished.answered = (times.app_micros > 0).then(|| finished.start.elapsed());
        }
    }

    /// Records the status of the response.
    pub fn responded(&mut self, status: StatusCode) {
        if let Some(line) = &mut self.0 {
            line.finished.status = Some(status.as_u16());
        }
    }

    /// Counts bytes of the response body.
    pub fn count(&mut self, bytes: usize) {
        if let Some(line) = &mut self.0 {
            line.bytes += bytes;
        }
    }
}

impl Drop for AccessEntry {
    fn drop(&mut self) {
        let Some(line) = &mut self.0 else { return };
        line.finished.took = line.finished.start.elapsed();
        for observer in line.access_log.observers() {
            observer.finished(&mut line.finished);
        }
        line.write();
    }
}

impl AccessLine {
    fn status(&self) -> u16 {
        self.finished.status.unwrap_or(CLIENT_GONE)
    }

    fn write(&self) {
        if let Some(log) = &self.access_log.log {
            let now = Timestamp::from(SystemTime::now());
            let text = match log.format {
                LogFormat::Text => self.combined(now),
                LogFormat::Json => self.json(now),
            };
            log.gather(text.as_bytes());
        }
    }

    /// The milliseconds for which the application waited for full garbage collections, if it did.
    fn collection(&self) -> Option<f64> {
        let took = self.finished.times.collection();
        (!took.is_zero()).then(|| milliseconds(took))
    }

    /// The combined log format, followed by times in milliseconds and the reason of a refusal.
    fn combined(&self, now: Timestamp) -> String {
        let request_line = self.request.as_ref().map_or_else(
            || "-".to_owned(),
            |line| {
                format!(
                    "{} {} {:?}",
                    line.method,
                    printable(line.target.as_bytes()),
                    line.version
                )
            },
        );
        let field = |value: Option<&HeaderValue>| {
            value.map_or_else(|| "-".to_owned(), |value| printable(value.as_bytes()))
        };
        let request = self.request.as_ref();
        let referer = field(request.and_then(|line| line.referer.as_ref()));
        let user_agent = field(request.and_then(|line| line.user_agent.as_ref()));
        let reason = self
            .finished
            .reason
            .map_or_else(String::new, |reason| format!(" reason=\"{reason}\""));
        let times = self.finished.times;
        let collection = self
            .collection()
            .map_or_else(String::new, |took| format!(" gc={took:.3}"));
        format!(
            "{} - - [{}] \"{request_line}\" {} {} \"{referer}\" \"{user_agent}\" queue={:.3} app={:.3} total={:.3}{collection}{reason}\n",
            self.remote,
            now.common(),
            self.status(),
            self.bytes,
            milliseconds(times.queue),
            milliseconds(times.app()),
            milliseconds(self.finished.start.elapsed()),
        )
    }

    fn json(&self, now: Timestamp) -> String {
        let mut line = json!({
            "time": now.to_string(),
            "remote": self.remote,
            "status": self.status(),
            "bytes": self.bytes,
            "queue_ms": milliseconds(self.finished.times.queue),
            "app_ms": milliseconds(self.finished.times.app()),
            "total_ms": milliseconds(self.finished.start.elapsed()),
        });
        if let Some(request) = &self.request {
            line["method"] = json!(request.method);
            line["target"] = json!(request.target);
            line["protocol"] = json!(format!("{:?}", request.version));
            let field = |value: &Option<HeaderValue>| {
                let value = value.as_ref()?;
                Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
            };
            line["referer"] = json!(field(&request.referer));
            line["user_agent"] = json!(field(&request.user_agent));
        }
        if let Some(took) = self.collection() {
            line["gc_ms"] = json!(took);
        }
        if let Some(reason) = self.finished.reason {
            line["reason"] = json!(reason);
        }
        format!("{}\n", json_printable(line.to_string()))
    }
}

/// A target, or a field value, for use in quotes: bytes beyond printable ASCII as `\xHH`. A terminal would obey `U+009B`.
fn printable(value: &[u8]) -> String {
    value
        .iter()
        .fold(String::with_capacity(value.len()), |mut text, &byte| {
            match byte {
                b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
                b' '..=b'~' => text.push(char::from(byte)),
                _ => text.extend(['\\', 'x', hex_digit(byte >> 4), hex_digit(byte & 0xF)]),
            }
            text
        })
}

fn hex_digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).map_or('?', |digit| digit.to_ascii_uppercase())
}

fn milliseconds(duration: Duration) -> f64 {
    // The times are measured in microseconds, so further digits would be noise.
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
