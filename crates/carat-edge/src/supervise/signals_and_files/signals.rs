use std::io;
use std::time::Instant;

use crate::supervise::signals_and_files::terminal::Terminal;
use carat_exchange::clock;
use rustix::process::Signal as Raw;
use tokio::signal::unix::{Signal, SignalKind, signal};

const TTIN: i32 = Raw::TTIN.as_raw();
const TTOU: i32 = Raw::TTOU.as_raw();

/// A request that a signal makes of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalRequest {
    /// SIGTERM, SIGINT, SIGQUIT, and SIGHUP when the terminal of the server has gone.
    Stop,
    /// SIGTTIN.
    AddWorker,
    /// SIGTTOU.
    RemoveWorker,
    /// SIGUSR1.
    Restart,
    /// Any other SIGHUP.
    ReopenLogs,
    /// SIGUSR2.
    Upgrade,
}

/// The signals that the server handles.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    terminal_input: Signal,
    terminal_output: Signal,
    hangup: Signal,
    terminal: Terminal,
    user1: Signal,
    user2: Signal,
}

impl Signals {
    /// `ignores_hangup`: whether `nohup` started the server.
    pub(crate) fn new(ignores_hangup: bool) -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminal_input: signal(SignalKind::from_raw(TTIN))?,
            terminal_output: signal(SignalKind::from_raw(TTOU))?,
            terminal: Terminal::find(ignores_hangup),
            hangup: signal(SignalKind::hangup())?,
            user1: signal(SignalKind::user_defined1())?,
            user2: signal(SignalKind::user_defined2())?,
        })
    }

    /// Notes whether the terminal is still there. Called once a tick.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.terminal.look(now);
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.terminate.recv() => SignalRequest::Stop,
            _ = self.interrupt.recv() => SignalRequest::Stop,
            _ = self.quit.recv() => SignalRequest::Stop,
            _ = self.terminal_input.recv() => SignalRequest::AddWorker,
            _ = self.terminal_output.recv() => SignalRequest::RemoveWorker,
            _ = self.hangup.recv() => {
                if self.terminal.has_just_gone(clock::now()) {
                    SignalRequest::Stop
                } else {
                    SignalRequest::ReopenLogs
                }
            }
            _ = self.user1.recv() => SignalRequest::Restart,
            _ = self.user2.recv() => SignalRequest::Upgrade,
        }
    }
}
