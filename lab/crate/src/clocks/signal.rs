//! SIGPROF: a timer of processor time, and one of time as it passes.
//!
//! The first interrupts the thread that computes. The second interrupts only the thread that waits for orders of the server:
//! no system call of the application. A system call that is interrupted goes on, as far as the kernel can do that.

use std::ffi::{c_int, c_void};
use std::io::{Error, ErrorKind, Result};
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{cpu, job, wall};

const SIGNAL: c_int = libc::SIGPROF;
const ITIMER_PROF: c_int = 2;

static INSTALLED: Mutex<Option<Installed>> = Mutex::new(None);

/// What the process had before, and what it has now.
struct Installed {
    before: libc::sigaction,
    /// The timer of time as it passes, and the process that has it.
    wall_timer: Option<Timer>,
}

struct Timer(libc::timer_t);

// SAFETY: it is a number that the kernel has given, and belongs to the process.
unsafe impl Send for Timer {}

/// Starts the timers.
pub(super) fn begin(cpu: bool, wall: bool, interval: Duration) -> Result<()> {
    if !(cpu || wall) {
        return Ok(());
    }
    let before = install()?;
    let wall_timer = if wall {
        Some(begin_wall(interval)?)
    } else {
        None
    };
    if cpu {
        set_cpu(interval)?;
    }
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    *installed = Some(Installed { before, wall_timer });
    Ok(())
}

/// Stops the timers, and restores what was there before. A signal that is pending then is discarded.
pub(super) fn end() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(installed) = installed.take() else {
        return;
    };
    // It cannot fail with a time of zero.
    let _ = set_cpu(Duration::ZERO);
    // SAFETY: the timer is of this process, and the kernel has written the action.
    unsafe {
        if let Some(Timer(timer)) = installed.wall_timer {
            libc::timer_delete(timer);
        }
        libc::signal(SIGNAL, libc::SIG_IGN);
        libc::sigaction(SIGNAL, &raw const installed.before, null_mut());
    }
}

/// Installs the handler, and returns what was there before. Another profiler keeps its own.
fn install() -> Result<libc::sigaction> {
    // SAFETY: the structures are complete, and the handler is safe in a signal.
    unsafe {
        let mut before: libc::sigaction = zeroed();
        check(libc::sigaction(SIGNAL, std::ptr::null(), &raw mut before))?;
        if before.sa_sigaction == on_signal as *const () as usize {
            before.sa_sigaction = libc::SIG_DFL; // The parent process had a profile when it forked.
        }
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction) {
            return Err(Error::new(ErrorKind::ResourceBusy, "SIGPROF has a handler"));
        }
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        check(libc::sigaction(SIGNAL, &raw const action, null_mut()))?;
        Ok(before)
    }
}

fn begin_wall(interval: Duration) -> Result<Timer> {
    // SAFETY: the structures are complete, and the thread is this one.
    unsafe {
        let mut event: libc::sigevent = zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = zeroed();
        let clock = libc::CLOCK_MONOTONIC;
        check(libc::timer_create(clock, &raw mut event, &raw mut timer))?;
        let time = libc::timespec {
            tv_sec: interval.as_secs().try_into().unwrap_or(1),
            tv_nsec: interval.subsec_nanos().into(),
        };
        let period = libc::itimerspec {
            it_interval: time,
            it_value: time,
        };
        check(libc::timer_settime(timer, 0, &raw const period, null_mut()))?;
        Ok(Timer(timer))
    }
}

fn set_cpu(interval: Duration) -> Result<()> {
    let time = libc::timeval {
        tv_sec: interval.as_secs().try_into().unwrap_or(1),
        tv_usec: interval.subsec_micros().into(),
    };
    let times = libc::itimerval {
        it_interval: time,
        it_value: time,
    };
    // SAFETY: the structure is complete.
    check(unsafe { libc::setitimer(ITIMER_PROF, &raw const times, null_mut()) })
}

fn check(result: c_int) -> Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(Error::last_os_error())
    }
}

/// Allocates nothing, and takes no lock.
// SAFETY: only the kernel calls it, with a description of the signal.
unsafe extern "C" fn on_signal(_signal: c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    if !super::IS_ON.load(std::sync::atomic::Ordering::Acquire) {
        return;
    }
    // SAFETY: the kernel has written the structure, and each thread has an error number, which the interrupted code may be
    // about to read.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        if (*info).si_code == libc::SI_TIMER {
            wall::tick();
        } else {
            cpu::capture();
        }
        job::trigger();
        *errno = before;
    }
}
