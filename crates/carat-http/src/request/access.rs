use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use http::header::{REFERER, USER_AGENT};
use http::{HeaderValue, Request, StatusCode, Version};
use serde_json::json;

use crate::RequestMetrics;
use carat_exchange::{Peer, Refusal};
use carat_log::{Log, Timestamp, json_printable};
use carat_settings::LogFormat;
use carat_telemetry::{RequestSpan, TracedClient, Tracer};

/// The status of a request whose client closed the connection before the response, as in nginx.
const CLIENT_GONE: u16 = 499;

/// Writes a line for each request when the `access_log` option is on, counts requests when `metrics` is, and traces them when
/// `otlp` is.
#[derive(Debug, Clone)]
pub(crate) struct AccessLog {
    log: Option<Rc<Log>>,
    metrics: Option<Rc<RequestMetrics>>,
    tracer: Option<Rc<Tracer>>,
}

/// The line of one request, written, counted, and traced when it is dropped. `None` when nobody reads any.
#[derive(Debug, Default)]
pub struct AccessEntry(Option<Box<AccessLine>>);

#[derive(Debug)]
struct AccessLine {
    log: Option<Rc<Log>>,
    metrics: Option<Rc<RequestMetrics>>,
    span: Option<Box<RequestSpan>>,
    start: Instant,
    remote: String,
    /// `None` when the request was not understood. Apart, so that a request that is only counted moves few bytes.
    request: Option<Box<LoggedTarget>>,
    status: u16,
    /// Why the edge refused the request, or a socket has ended.
    reason: Option<&'static str>,
    bytes: usize,
    queue_time: Duration,
    app_time: Duration,
    /// Which pool it is of.
    pool: usize,
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
    pub(crate) fn new(
        log: &Rc<Log>,
        enabled: bool,
        metrics: Option<&Rc<RequestMetrics>>,
        tracer: Option<&Rc<Tracer>>,
    ) -> AccessLog {
        AccessLog {
            metrics: metrics.cloned(),
            tracer: tracer.cloned(),
            log: enabled.then(|| Rc::clone(log)),
        }
    }

    /// Starts the line and the spans of a request.
    pub(crate) fn start<B>(
        &self,
        request: &mut Request<B>,
        client: &TracedClient<'_>,
    ) -> AccessEntry {
        let tracer = self.tracer.as_ref();
        let span = tracer.and_then(|tracer| tracer.start(request, client));
        let metrics = self.metrics.as_ref();
        let pool = metrics.map_or(0, |metrics| metrics.pool(request.uri().path()));
        self.entry(client.address, (span, pool), || {
            Some(LoggedTarget {
                method: request.method().to_string(),
                target: request.uri().to_string(),
                version: request.version(),
                referer: request.headers().get(REFERER).cloned(),
                user_agent: request.headers().get(USER_AGENT).cloned(),
            })
        })
    }

    /// Writes the line of a request that was refused before hyper saw it.
    pub(crate) fn refused(&self, peer: &Peer, refusal: Refusal) {
        drop(self.start_refused(peer, refusal));
    }

    /// Starts the line of a request that was not understood.
    pub(crate) fn start_refused(&self, peer: &Peer, refusal: Refusal) -> AccessEntry {
        let mut entry = self.entry(peer.logged(), (None, 0), || None);
        entry.responded(refusal.status());
        entry.refused(refusal);
        entry
    }

    fn entry(
        &self,
        client: &str,
        (span, pool): (Option<Box<RequestSpan>>, usize),
        request: impl FnOnce() -> Option<LoggedTarget>,
    ) -> AccessEntry {
        if self.log.is_none() && self.metrics.is_none() && span.is_none() {
            return AccessEntry(None);
        }
        let logged = self.log.as_ref().map(|_| (client.to_owned(), request()));
        let (remote, request) = logged.unwrap_or_default();
        AccessEntry(Some(Box::new(AccessLine {
            log: self.log.clone(),
            metrics: self.metrics.clone(),
            span,
            start: Instant::now(),
            remote,
            request: request.map(Box::new),
            status: CLIENT_GONE,
            reason: None,
            bytes: 0,
            queue_time: Duration::ZERO,
            app_time: Duration::ZERO,
            pool,
        })))
    }
}

impl AccessEntry {
    /// Records that the edge refused the request.
    pub fn refused(&mut self, refusal: Refusal) {
        if let Some(line) = &mut self.0 {
            line.reason = Some(refusal.reason());
            if let Some(metrics) = &line.metrics {
                metrics.refused(refusal);
            }
        }
    }

    /// Writes a line now, besides the one at the end: the request has become a socket, which may stay for days.
    pub fn opened(&mut self) {
        if let Some(line) = &mut self.0 {
            line.reason = Some("socket opened");
            line.write();
            line.reason = None;
        }
    }

    /// Records why a socket has ended.
    pub fn ended(&mut self, reason: &'static str) {
        if let Some(line) = &mut self.0 {
            line.reason = Some(reason);
        }
    }

    /// Records how long the request waited for a worker, and how long the application took.
    pub fn timed(&mut self, queue_time: Duration, app_time: Duration) {
        if let Some(line) = &mut self.0 {
            line.queue_time = queue_time;
            line.app_time = app_time;
            if let (Some(span), false) = (&mut line.span, app_time.is_zero()) {
                span.responded(queue_time, app_time);
            }
        }
    }

    /// Records the status of the response.
    pub fn responded(&mut self, status: StatusCode) {
        if let Some(line) = &mut self.0 {
            line.status = status.as_u16();
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
        line.measure();
        if let Some(span) = line.span.take() {
            span.finish(line.sent_status(), line.reason);
        }
        line.write();
    }
}

impl AccessLine {
    /// `None` when the client left before the response.
    fn sent_status(&self) -> Option<u16> {
        (self.status != CLIENT_GONE).then_some(self.status)
    }

    fn write(&self) {
        if let Some(log) = &self.log {
            let now = Timestamp::from(SystemTime::now());
            let text = match log.format {
                LogFormat::Text => self.combined(now),
                LogFormat::Json => self.json(now),
            };
            log.gather(text.as_bytes());
        }
    }

    /// Counts the request.
    fn measure(&self) {
        let Some(metrics) = &self.metrics else { return };
        metrics.ended(self.pool, self.sent_status(), self.start.elapsed());
        if !self.app_time.is_zero() {
            let times = (self.queue_time, self.app_time);
            metrics.responded(self.pool, self.status, times);
        }
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
            .reason
            .map_or_else(String::new, |reason| format!(" reason=\"{reason}\""));
        format!(
            "{} - - [{}] \"{request_line}\" {} {} \"{referer}\" \"{user_agent}\" queue={:.3} app={:.3} total={:.3}{reason}\n",
            self.remote,
            now.common(),
            self.status,
            self.bytes,
            milliseconds(self.queue_time),
            milliseconds(self.app_time),
            milliseconds(self.start.elapsed()),
        )
    }

    fn json(&self, now: Timestamp) -> String {
        let mut line = json!({
            "time": now.to_string(),
            "remote": self.remote,
            "status": self.status,
            "bytes": self.bytes,
            "queue_ms": milliseconds(self.queue_time),
            "app_ms": milliseconds(self.app_time),
            "total_ms": milliseconds(self.start.elapsed()),
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
        if let Some(reason) = self.reason {
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
    // Measured in microseconds: further digits are noise.
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
