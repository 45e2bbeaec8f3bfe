//! Writes log lines on a thread of its own, so that a pipe that nobody reads, or a disk that hangs,
//! does not stop the server.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};

/// How long the server waits for its lines to be written, when it is ready and when it ends.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// The most bytes that wait to be written; as many more may be in the hands of the thread that writes. Further lines
/// are dropped and counted.
const QUEUE_LIMIT: usize = 1024 * 1024;

/// Hands lines to a thread that writes them. Clones share the thread and the queue.
#[derive(Clone)]
pub struct LogWriter(Arc<Shared>);

impl fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogWriter")
    }
}

/// A function that opens another file, if it can, and returns a line that says so.
type Reopening = Box<dyn FnOnce() -> (Option<File>, String) + Send>;

#[derive(Default)]
struct Shared {
    queue: Mutex<LogQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct LogQueue {
    bytes: Vec<u8>,
    /// The function that opens another file for further lines, if there is to be one.
    reopening: Option<Reopening>,
    is_writing: bool,
    dropped_lines: u64,
}

impl LogWriter {
    /// Starts the thread, which writes to `file`. It calls `complain` when a write fails and lines are lost, and does
    /// so again only after a write has succeeded.
    pub fn start(
        file: File,
        complain: impl Fn(&io::Error) + Send + 'static,
    ) -> io::Result<LogWriter> {
        let shared = Arc::new(Shared::default());
        let writer = LogWriter(Arc::clone(&shared));
        thread::Builder::new()
            .name("carat log".to_owned())
            .spawn(move || shared.write_forever(file, complain))?;
        Ok(writer)
    }

    /// Starts a thread that writes to standard error. If that fails, there is no place to say so.
    pub fn to_stderr() -> io::Result<LogWriter> {
        LogWriter::to_stream(&io::stderr(), |_| {})
    }

    /// Starts a thread that writes to a standard stream, through its descriptor. With the type of `std`, a thread that
    /// hangs would keep the lock of the stream.
    pub fn to_stream(
        stream: &impl AsFd,
        complain: impl Fn(&io::Error) + Send + 'static,
    ) -> io::Result<LogWriter> {
        // The application writes there, too.
        append_only(io::stdout())?;
        append_only(io::stderr())?;
        LogWriter::start(stream.as_fd().try_clone_to_owned()?.into(), complain)
    }

    /// Queues whole lines. If the queue has no room for them, they are dropped and counted.
    pub fn write(&self, lines: &[u8]) {
        let mut queue = self.0.lock();
        if queue.bytes.len() + lines.len() > QUEUE_LIMIT {
            let dropped = memchr::memchr_iter(b'\n', lines).count();
            queue.dropped_lines += dropped as u64;
            return;
        }
        queue.bytes.extend_from_slice(lines);
        drop(queue);
        self.0.changed.notify_all();
    }

    /// Writes further lines to the file that `reopen` opens, if that succeeds. The lines in the queue go there, too,
    /// after the line that `reopen` returns.
    pub fn switch_to(&self, reopen: impl FnOnce() -> (Option<File>, String) + Send + 'static) {
        self.0.lock().reopening = Some(Box::new(reopen));
        self.0.changed.notify_all();
    }

    /// How many lines were dropped since the last call; `None` until there is room for a line that says so.
    pub fn take_dropped(&self) -> Option<u64> {
        let mut queue = self.0.lock();
        let has_room = queue.bytes.len() < QUEUE_LIMIT / 2;
        (has_room && queue.dropped_lines > 0).then(|| mem::take(&mut queue.dropped_lines))
    }

    /// Waits until all lines are written, at most `FINISH_TIMEOUT`.
    pub fn finish(&self) {
        self.finish_within(FINISH_TIMEOUT);
    }

    fn finish_within(&self, within: Duration) {
        let queue = self.0.lock();
        let waited = self.0.changed.wait_timeout_while(queue, within, |queue| {
            queue.is_writing || !queue.bytes.is_empty()
        });
        // In time or not, the process ends now.
        drop(waited);
    }
}

/// Makes a standard stream that is a file append to it. If standard output and standard error were opened separately
/// for one file, each would otherwise overwrite the lines of the other.
fn append_only(stream: impl AsFd) -> io::Result<()> {
    let kind = FileType::from_raw_mode(fstat(&stream)?.st_mode);
    if kind == FileType::RegularFile {
        fcntl_setfl(&stream, fcntl_getfl(&stream)? | OFlags::APPEND)?;
    }
    Ok(())
}

impl Shared {
    /// Locks the queue. A poisoned lock is ignored: no code panics while it holds the lock, and the log has to
    /// continue.
    fn lock(&self) -> MutexGuard<'_, LogQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_forever(&self, mut file: File, complain: impl Fn(&io::Error)) {
        let mut loses_lines = false;
        loop {
            let (lines, reopening) = self.next();
            let mut first = String::new();
            if let Some(reopen) = reopening {
                let (next, line) = reopen();
                file = next.unwrap_or(file);
                first = line;
            }
            let written = file.write_all(first.as_bytes());
            let written = written.and_then(|()| file.write_all(&lines));
            if let Some(error) = written.as_ref().err().filter(|_| !loses_lines) {
                complain(error);
            }
            loses_lines = written.is_err();
            self.lock().is_writing = false;
            self.changed.notify_all();
        }
    }

    /// Waits for lines or another file.
    fn next(&self) -> (Vec<u8>, Option<Reopening>) {
        let mut queue = self.lock();
        while queue.bytes.is_empty() && queue.reopening.is_none() {
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
        queue.is_writing = true;
        (mem::take(&mut queue.bytes), queue.reopening.take())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::mpsc;

    use rustix::pipe::pipe;

    use super::*;

    const WITHIN: Duration = Duration::from_secs(60);

    fn ends() -> (File, File) {
        let (reader, writer) = pipe().expect("a pipe");
        (reader.into(), writer.into())
    }

    fn writer() -> (LogWriter, File) {
        let (reader, file) = ends();
        (LogWriter::start(file, |_| {}).expect("a thread"), reader)
    }

    #[test]
    fn lines_are_written_in_order() {
        let (writer, mut reader) = writer();
        writer.write(b"one\n");
        writer.write(b"two\n");
        let mut lines = [0; 8];
        reader.read_exact(&mut lines).expect("written");
        assert_eq!(&lines, b"one\ntwo\n");
    }

    #[test]
    fn a_pipe_that_nobody_reads_blocks_nobody_and_what_is_dropped_is_counted() {
        let (writer, mut reader) = writer();
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        // More than the pipe holds: the thread takes these lines, and hangs.
        writer.write(&line.repeat(128));
        while !writer.0.lock().bytes.is_empty() {
            thread::yield_now();
        }
        for _ in 0..4096 {
            writer.write(&line);
        }
        assert_eq!(writer.take_dropped(), None, "there is no room to say so");
        thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
        writer.finish_within(WITHIN);
        let dropped = writer.take_dropped().expect("some are dropped");
        // One queue is being written while the next one fills, and the pipe holds some lines.
        assert!((1900..=3072).contains(&dropped), "{dropped}");
        assert_eq!(writer.take_dropped(), None);
    }

    #[test]
    fn a_failure_is_reported_once_until_a_write_succeeds() {
        let full = || {
            File::options()
                .append(true)
                .open("/dev/full")
                .expect("a device")
        };
        let (sender, errors) = mpsc::channel();
        let writer = LogWriter::start(full(), move |error| {
            let _ = sender.send(error.kind());
        });
        let writer = writer.expect("a thread");
        let write = || {
            writer.write(b"a\n");
            writer.finish_within(WITHIN);
        };
        write();
        write();
        assert_eq!(errors.try_iter().count(), 1);
        let (_reader, file) = ends();
        writer.switch_to(|| (Some(file), String::new()));
        write();
        writer.switch_to(move || (Some(full()), String::new()));
        write();
        let found = errors.try_iter().collect::<Vec<_>>();
        assert_eq!(found, [io::ErrorKind::StorageFull]);
    }

    #[test]
    fn a_switch_is_obeyed_before_the_lines_that_follow() {
        let (writer, mut first) = writer();
        writer.write(b"a\n");
        writer.finish_within(WITHIN);
        let (mut second, file) = ends();
        writer.switch_to(|| (Some(file), "-\n".to_owned()));
        writer.write(b"b\n");
        let mut lines = [[0; 2]; 3];
        first.read_exact(&mut lines[0]).expect("written");
        second.read_exact(&mut lines[1]).expect("written");
        second.read_exact(&mut lines[2]).expect("written");
        assert_eq!(lines, [*b"a\n", *b"-\n", *b"b\n"]);
    }
}
