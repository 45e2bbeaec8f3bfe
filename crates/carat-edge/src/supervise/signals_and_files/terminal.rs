use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};

/// The controlling terminal of this process, whatever it is called.
const TERMINAL: &str = "/dev/tty";

/// How long after the end of a terminal its shell may send SIGHUP to its jobs.
const SHELL_TIME: Duration = Duration::from_secs(5);

/// The terminal that the server was started from. A SIGHUP at the end of the terminal asks the server to end, too; any
/// other SIGHUP is about log files. The sender does not tell them apart: the kernel signals the shell, and the shell
/// signals its jobs.
pub(crate) struct Terminal(TerminalState);

#[derive(Clone, Copy)]
enum TerminalState {
    /// The server was started without a terminal, or `nohup` says that the terminal's end does not matter.
    None,
    There,
    Gone(Instant),
}

impl Terminal {
    pub(crate) fn find(ignores_hangup: bool) -> Terminal {
        let matters = is_there() && !ignores_hangup;
        Terminal(if matters {
            TerminalState::There
        } else {
            TerminalState::None
        })
    }

    /// Notes whether the terminal is still there.
    pub(crate) fn look(&mut self, now: Instant) {
        if matches!(self.0, TerminalState::There) && !is_there() {
            self.0 = TerminalState::Gone(now);
        }
    }

    /// Whether the terminal has just gone. If it went long ago, the server was told to outlive it, such as by `disown`.
    pub(crate) fn has_just_gone(&mut self, now: Instant) -> bool {
        self.look(now);
        let is_recent = |at| now.saturating_duration_since(at) < SHELL_TIME;
        matches!(self.0, TerminalState::Gone(at) if is_recent(at))
    }
}

/// Whether this process has a controlling terminal. The kernel takes the terminal away when it ends.
fn is_there() -> bool {
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(TERMINAL, flags, Mode::empty()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_went_long_ago_explains_no_hangup() {
        let now = Instant::now();
        let mut gone = Terminal(TerminalState::Gone(now));
        assert!(gone.has_just_gone(now + SHELL_TIME / 2));
        assert!(!gone.has_just_gone(now + SHELL_TIME * 2));
        assert!(!Terminal(TerminalState::None).has_just_gone(now));
    }
}
