use std::env;
use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use carat_exchange::clock;

use rustix::time::{ClockId, clock_gettime};

/// The service manager that started the server, such as systemd. It is notified as `sd_notify(3)` describes. Without a
/// service manager, nothing happens.
pub(crate) struct ServiceManager {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// How often the watchdog wants a sign of life, and when it got the last one.
    watchdog: Option<(Duration, Instant)>,
    is_ready: bool,
    is_restarting: bool,
    /// Whether the other edge of an upgrade notifies the service manager.
    is_silent: bool,
}

impl ServiceManager {
    /// Reads the variables that the service manager has set.
    pub(crate) fn from_environment() -> ServiceManager {
        let number = |name| {
            env::var(name)
                .ok()
                .and_then(|text| text.parse::<u64>().ok())
        };
        let is_ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let limit = number("WATCHDOG_USEC").filter(|_| is_ours);
        ServiceManager::new(env::var_os("NOTIFY_SOCKET"), limit, clock::now())
    }

    /// `name` is a path, or `@` and an abstract name; `limit` is the watchdog's time in microseconds.
    fn new(name: Option<OsString>, limit: Option<u64>, now: Instant) -> ServiceManager {
        let limit = limit.filter(|limit| *limit > 0).map(Duration::from_micros);
        ServiceManager {
            socket: name.and_then(|name| connect(&name)),
            // Half of the time, as sd_watchdog_enabled(3) recommends.
            watchdog: limit.map(|limit| (limit / 2, now)),
            is_ready: false,
            is_restarting: false,
            is_silent: false,
        }
    }

    /// Notifies that the server is ready: the first worker is, or a reload is over.
    pub(crate) fn ready(&mut self) {
        self.is_ready = true;
        self.notify("READY=1\nSTATUS=serving");
    }

    /// Notifies that a `systemctl reload` begins. While the server boots or stops, there is no notice: the end of a
    /// reload says that the server is ready. A restart is a reload already.
    pub(crate) fn reopening_begins(&mut self) {
        if self.is_ready && !self.is_restarting {
            self.reloading("reloading");
        }
    }

    /// Notifies that a `systemctl reload` is over.
    pub(crate) fn reopening_ends(&mut self) {
        if self.is_ready && !self.is_restarting {
            self.ready();
        }
    }

    /// Notifies of a restart or an upgrade, which is a reload to the service manager. `status` says what happens;
    /// `None` if that is over.
    pub(crate) fn follow_restart(&mut self, status: Option<&str>) {
        let is_restarting = status.is_some();
        if !self.is_ready || self.is_restarting == is_restarting {
            return;
        }
        self.is_restarting = is_restarting;
        if let Some(status) = status {
            self.reloading(status);
        } else {
            self.ready();
        }
    }

    fn reloading(&self, status: &str) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.notify(&format!(
            "RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS={status}"
        ));
    }

    /// Notifies that the server has this main process from now on. Only the old main process may do so.
    pub(crate) fn main_process(&self, pid: u32) {
        if self.watchdog.is_some() {
            // The first sign of life of the new process may take half of the watchdog's time.
            self.notify("WATCHDOG=1");
        }
        self.notify(&format!("MAINPID={pid}"));
    }

    /// Leaves it to the other edge to notify the service manager.
    pub(crate) fn fall_silent(&mut self) {
        self.is_silent = true;
    }

    /// Notifies the service manager from now on. The old edge has already said that the server is ready.
    pub(crate) fn speak(&mut self) {
        self.is_silent = false;
        self.is_ready = true;
    }

    /// Notifies that the server is about to stop.
    pub(crate) fn draining(&mut self) {
        self.is_ready = false;
        self.notify("STOPPING=1\nSTATUS=draining");
    }

    /// Notifies that the server has begun to stop.
    pub(crate) fn stopping(&mut self) {
        self.is_ready = false;
        self.notify("STOPPING=1\nSTATUS=stopping");
    }

    /// Notifies that the server has failed.
    pub(crate) fn failed(&self, cause: &str) {
        let line = cause.lines().next().unwrap_or_default();
        self.notify(&format!("STATUS=failed: {line}"));
    }

    /// Gives the watchdog a sign of life when one is due.
    pub(crate) fn tick(&mut self, now: Instant) {
        let Some((period, last)) = &mut self.watchdog else {
            return;
        };
        if now.saturating_duration_since(*last) >= *period {
            *last = now;
            self.notify("WATCHDOG=1");
        }
    }

    fn notify(&self, state: &str) {
        let socket = self.socket.as_ref().filter(|_| !self.is_silent);
        if let Some((socket, address)) = socket {
            // An error does not matter: the server serves without a service manager, too.
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }
}

fn connect(name: &OsStr) -> Option<(UnixDatagram, SocketAddr)> {
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        _ => SocketAddr::from_pathname(name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, address.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A service manager with an abstract name.
    fn pair(limit: Option<u64>, now: Instant) -> (ServiceManager, UnixDatagram) {
        let directory = tempfile::tempdir().expect("a unique name");
        let name = directory.path().as_os_str();
        let address = SocketAddr::from_abstract_name(name.as_bytes()).expect("short");
        let socket = UnixDatagram::bind_addr(&address).expect("free");
        socket.set_nonblocking(true).expect("a socket");
        let mut variable = OsString::from("@");
        variable.push(name);
        (ServiceManager::new(Some(variable), limit, now), socket)
    }

    fn received(socket: &UnixDatagram) -> Vec<String> {
        let mut buffer = [0; 256];
        let next = || {
            socket
                .recv(&mut buffer)
                .ok()
                .map(|n| String::from_utf8_lossy(&buffer[..n]).into_owned())
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn signs_of_life_come_at_half_of_the_time() {
        let start = Instant::now();
        let (mut manager, socket) = pair(Some(2_000_000), start);
        manager.tick(start + SECOND / 2);
        assert_eq!(received(&socket), [""; 0]);
        manager.tick(start + SECOND);
        manager.tick(start + SECOND + SECOND / 2);
        manager.tick(start + 2 * SECOND);
        assert_eq!(received(&socket), ["WATCHDOG=1"; 2]);
    }

    #[test]
    fn the_old_edge_is_alive_when_it_names_the_new_one() {
        let (manager, socket) = pair(Some(2_000_000), Instant::now());
        manager.main_process(7);
        assert_eq!(received(&socket), ["WATCHDOG=1", "MAINPID=7"]);
    }

    #[test]
    fn a_reload_before_the_server_is_ready_does_not_make_it_ready() {
        let (mut manager, socket) = pair(None, Instant::now());
        manager.reopening_begins();
        manager.reopening_ends();
        assert_eq!(received(&socket), [""; 0]);
        manager.ready();
        manager.stopping();
        manager.reopening_begins();
        manager.reopening_ends();
        let states = ["READY=1\nSTATUS=serving", "STOPPING=1\nSTATUS=stopping"];
        assert_eq!(received(&socket), states);
    }

    #[test]
    fn a_restart_is_a_reload_until_the_server_stops() {
        let (mut manager, socket) = pair(None, Instant::now());
        let restarting = Some("restarting");
        manager.follow_restart(restarting);
        manager.follow_restart(None);
        assert_eq!(received(&socket), [""; 0], "it is not ready");
        manager.ready();
        for status in [None, restarting, restarting, None] {
            manager.follow_restart(status);
        }
        let states = received(&socket);
        assert_eq!(states.len(), 3);
        assert!(states[1].starts_with("RELOADING=1\nMONOTONIC_USEC="));
        assert!(states[1].ends_with("\nSTATUS=restarting"));
        assert_eq!(states[2], "READY=1\nSTATUS=serving");
        manager.follow_restart(restarting);
        manager.reopening_begins();
        manager.reopening_ends();
        manager.draining();
        manager.follow_restart(None);
        assert_eq!(received(&socket)[1..], ["STOPPING=1\nSTATUS=draining"]);
    }

    #[test]
    fn the_cause_of_a_failure_is_one_line() {
        let (manager, socket) = pair(None, Instant::now());
        manager.failed("no config.ru\nREADY=1");
        assert_eq!(received(&socket), ["STATUS=failed: no config.ru"]);
    }

    #[test]
    fn without_a_service_manager_nothing_happens() {
        for name in [None, Some(""), Some("/nowhere/notify")] {
            let mut manager =
                ServiceManager::new(name.map(OsString::from), Some(0), Instant::now());
            manager.ready();
            manager.tick(Instant::now());
        }
    }
}
