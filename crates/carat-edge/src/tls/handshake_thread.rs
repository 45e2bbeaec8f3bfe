use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tokio::sync::oneshot;

use super::handshake_error::HandshakeError;
use super::stream::TlsStream;

/// A thread that computes the steps of handshakes, in the order in which they arrive. A step takes a tenth of a
/// millisecond with a key on P-256, and 4 ms with RSA of 4096 bits: nothing else should wait for it.
#[derive(Debug)]
pub(crate) struct HandshakeThread {
    steps: Sender<HandshakeStep>,
}

/// What a client has sent, to be processed.
#[derive(Debug)]
struct HandshakeStep {
    stream: Box<TlsStream>,
    done: oneshot::Sender<SteppedStream>,
}

/// The connection after a step, and whether the handshake is complete.
pub(crate) type SteppedStream = (Box<TlsStream>, Result<bool, HandshakeError>);

impl HandshakeThread {
    /// Starts the thread, which ends when this is dropped.
    pub(crate) fn start() -> io::Result<HandshakeThread> {
        let (steps, arriving) = channel();
        thread::Builder::new()
            .name("carat tls".to_owned())
            .spawn(move || compute(&arriving))?;
        Ok(HandshakeThread { steps })
    }

    /// Has a step computed. Nothing is received if it panics.
    pub(crate) fn step(&self, stream: Box<TlsStream>) -> oneshot::Receiver<SteppedStream> {
        let (done, stepped) = oneshot::channel();
        // The thread ends after this sender does.
        let _ = self.steps.send(HandshakeStep { stream, done });
        stepped
    }
}

fn compute(steps: &Receiver<HandshakeStep>) {
    for HandshakeStep { mut stream, done } in steps {
        if done.is_closed() {
            continue;
        }
        let step = AssertUnwindSafe(|| {
            let is_complete = stream.shake_hands();
            (stream, is_complete)
        });
        // The hook has logged a panic, and the connection is dropped.
        if let Ok(stepped) = catch_unwind(step) {
            // The connection may be over meanwhile.
            let _ = done.send(stepped);
        }
    }
}
