//! Log lines: one for each lifecycle event, and one for each request when the access log is on.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::mem;
use std::os::unix::fs::OpenOptionsExt;
use std::panic;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::{Map, Value};

use crate::field_value::FieldValue;
use crate::log_text::{block, json_printable, quoted, shortened};
use crate::log_writer::LogWriter;
use crate::timestamp::Timestamp;
use carat_settings::{LogFormat, Settings};

/// The path that stands for standard output in the settings. It is not opened, because that fails if standard output is
/// a socket.
const STANDARD_OUTPUT: &str = "/dev/stdout";

/// Access lines are gathered up to this many bytes before they are written.
const BUFFER_LIMIT: usize = 32 * 1024;

/// The severity of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// An expected event.
    Info,
    /// An event that an operator should know.
    Warn,
    /// A failure.
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

/// Writes the log to a standard stream or to a file, and never blocks.
#[derive(Debug)]
pub struct Log {
    path: Option<PathBuf>,
    /// The format of the lines.
    pub format: LogFormat,
    writer: LogWriter,
    buffer: RefCell<Vec<u8>>,
    dropped: Cell<u64>,
}

/// A field of a line: its name and its value.
pub type Field<'a> = (&'static str, &'a dyn FieldValue);

impl Log {
    /// Opens the log of the settings.
    pub fn open(settings: &Settings) -> io::Result<Log> {
        let lost = |path: &Path| lost_lines(settings.log_format, path.to_owned());
        let path = settings.log.as_deref();
        let path = path.filter(|path| *path != Path::new(STANDARD_OUTPUT));
        let writer = match (path, &settings.log) {
            (Some(path), _) => LogWriter::start(append_to(path)?, lost(path))?,
            (None, Some(path)) => LogWriter::to_stream(&io::stdout(), lost(path))?,
            (None, None) => LogWriter::to_stderr()?,
        };
        Ok(Log {
            path: path.map(Path::to_owned),
            format: settings.log_format,
            writer,
            buffer: RefCell::default(),
            dropped: Cell::default(),
        })
    }

    /// Reopens the file after a rotation, and logs whether that succeeded. Calls `done` afterward, in another thread.
    pub fn reopen(&self, done: impl FnOnce() + Send + 'static) {
        let format = self.format;
        let Some(path) = self.path.clone() else {
            self.info("log reopened", &[]);
            return done();
        };
        self.flush();
        self.writer.switch_to(move || {
            let reopened = append_to(&path);
            done();
            match reopened {
                Ok(file) => (
                    Some(file),
                    stamped_line(format, Level::Info, "log reopened", &[]),
                ),
                Err(error) => {
                    let cause: [Field<'_>; 1] = [("cause", &error)];
                    let line = stamped_line(format, Level::Error, "cannot reopen the log", &cause);
                    (None, line)
                }
            }
        });
    }

    /// Writes the line of an event at once.
    pub fn event(&self, level: Level, message: &str, fields: &[Field<'_>]) {
        let line = self.line(level, message, fields);
        self.buffer.borrow_mut().extend_from_slice(line.as_bytes());
        self.flush();
    }

    fn line(&self, level: Level, message: &str, fields: &[Field<'_>]) -> String {
        stamped_line(self.format, level, message, fields)
    }

    /// Logs panics of all threads from now on.
    pub fn report_panics(&self) {
        let (writer, format) = (self.writer.clone(), self.format);
        panic::set_hook(Box::new(move |panic| {
            let line = stamped_line(format, Level::Error, "panic", &[("cause", panic)]);
            writer.write(line.as_bytes());
        }));
    }

    /// Logs an event of normal operation.
    pub fn info(&self, message: &str, fields: &[Field<'_>]) {
        self.event(Level::Info, message, fields);
    }

    /// Logs an event that needs attention.
    pub fn warn(&self, message: &str, fields: &[Field<'_>]) {
        self.event(Level::Warn, message, fields);
    }

    /// Logs a failure.
    pub fn error(&self, message: &str, fields: &[Field<'_>]) {
        self.event(Level::Error, message, fields);
    }

    /// Gathers an access line. It is written at the next tick, or as soon as the buffer is full.
    pub fn gather(&self, line: &[u8]) {
        let gathered = {
            let mut buffer = self.buffer.borrow_mut();
            buffer.extend_from_slice(line);
            buffer.len()
        };
        if gathered >= BUFFER_LIMIT {
            self.flush();
        }
    }

    /// Writes the gathered lines, and logs how many lines were dropped before.
    pub fn flush(&self) {
        if let Some(dropped) = self.writer.take_dropped() {
            self.dropped.set(self.dropped.get() + dropped);
            let line = self.line(Level::Warn, "log lines dropped", &[("count", &dropped)]);
            self.writer.write(line.as_bytes());
        }
        let lines = mem::take(&mut *self.buffer.borrow_mut());
        if !lines.is_empty() {
            self.writer.write(&lines);
        }
    }

    /// How many lines have been dropped.
    pub fn dropped_lines(&self) -> u64 {
        self.dropped.get()
    }

    /// Writes the last lines before the process exits.
    pub fn finish(&self) {
        self.flush();
        self.writer.finish();
    }
}

/// The text for standard error that says why the server cannot run, in the format of the log.
pub fn complaint(format: LogFormat, cause: &str) -> String {
    match format {
        LogFormat::Text => format!("carat: {}\n", block(cause)),
        LogFormat::Json => stamped_line(
            format,
            Level::Error,
            "the server failed",
            &[("cause", &cause)],
        ),
    }
}

/// Returns a function that says on standard error that the log file cannot be written.
fn lost_lines(format: LogFormat, path: PathBuf) -> impl Fn(&io::Error) {
    move |error| {
        let message = "log lines are lost: free some space, or choose another log";
        let fields: [Field<'_>; 2] = [("log", &path.display()), ("cause", error)];
        let line = stamped_line(format, Level::Error, message, &fields);
        // An error is ignored, because the server continues in any case.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Opens a log file. A FIFO that nobody reads is an error, so that the server does not wait for a reader.
fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let nonblocking = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(i32::try_from(nonblocking.bits()).map_err(io::Error::other)?);
    let file = options.create(true).append(true).open(path)?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

fn stamped_line(format: LogFormat, level: Level, message: &str, fields: &[Field<'_>]) -> String {
    let now = Timestamp::from(SystemTime::now());
    match format {
        LogFormat::Text => text_line(now, level, message, fields),
        LogFormat::Json => json_line(now, level, message, fields),
    }
}

fn text_line(now: Timestamp, level: Level, message: &str, fields: &[Field<'_>]) -> String {
    let mut line = format!("{now} {} {message}", level.name());
    for (name, value) in fields {
        // Writing to a String cannot fail.
        let _ = write!(line, " {name}={}", quoted(&value.to_string()));
    }
    line.push('\n');
    line
}

fn json_line(now: Timestamp, level: Level, message: &str, fields: &[Field<'_>]) -> String {
    let mut object = Map::new();
    object.insert("time".to_owned(), Value::from(now.to_string()));
    object.insert("level".to_owned(), Value::from(level.name()));
    object.insert("message".to_owned(), Value::from(message));
    for (name, value) in fields {
        let value = match value.json() {
            Value::String(text) => Value::from(shortened(&text)),
            other => other,
        };
        object.insert((*name).to_owned(), value);
    }
    let mut line = json_printable(Value::Object(object).to_string());
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: SystemTime = SystemTime::UNIX_EPOCH;

    #[test]
    fn a_text_line_quotes_what_is_not_one_word() {
        let line = text_line(
            NOON.into(),
            Level::Warn,
            "worker died",
            &[("worker", &2), ("cause", &"signal 9")],
        );
        assert_eq!(
            line,
            "1970-01-01T00:00:00.000Z warn worker died worker=2 cause=\"signal 9\"\n"
        );
    }

    #[test]
    fn a_json_line_keeps_numbers_as_numbers() {
        let line = json_line(
            NOON.into(),
            Level::Info,
            "ready",
            &[("pid", &42), ("path", &"/x")],
        );
        let value: Value = serde_json::from_str(&line).expect("valid JSON");
        assert_eq!(value["pid"], 42);
        assert_eq!(value["path"], "/x");
    }

    #[test]
    fn a_hostile_value_stays_within_its_event() {
        let value = format!(
            "a\n1970-01-01T00:00:00.000Z info ready\x1b[2J\0\u{9b}{}",
            "x".repeat(1 << 20)
        );
        let fields: [Field<'_>; 1] = [("cause", &value)];
        let text = text_line(NOON.into(), Level::Error, "failed", &fields);
        assert!(text.lines().skip(1).all(|line| line.starts_with("    ")));
        let json = json_line(NOON.into(), Level::Error, "failed", &fields);
        for line in [&text, &json] {
            assert!(line.len() < 20_000);
            assert!(
                line.chars()
                    .all(|character| character == '\n' || !character.is_control())
            );
        }
        assert_eq!(json.lines().count(), 1);
        let object: Value = serde_json::from_str(&json).expect("valid JSON");
        assert!(
            object["cause"]
                .as_str()
                .expect("a text")
                .starts_with("a\n1970")
        );
    }

    #[test]
    fn a_complaint_is_in_the_format_of_the_log() {
        assert_eq!(complaint(LogFormat::Text, "a\nb\n"), "carat: a\n    b\n");
        let json = complaint(LogFormat::Json, "a\nb");
        let object: Value = serde_json::from_str(&json).expect("valid JSON");
        assert_eq!(object["cause"], "a\nb");
        assert_eq!(json.lines().count(), 1);
    }

    #[test]
    fn a_json_line_keeps_a_string_of_digits_as_a_string() {
        let fields: [Field<'_>; 2] = [("version", &"42"), ("cause", &"-1".to_owned())];
        let line = json_line(NOON.into(), Level::Info, "ready", &fields);
        let value: Value = serde_json::from_str(&line).expect("valid JSON");
        assert_eq!(value["version"], "42");
        assert_eq!(value["cause"], "-1");
    }
}
