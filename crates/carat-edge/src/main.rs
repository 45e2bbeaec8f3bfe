//! `carat-edge` owns the client connections and supervises the Ruby processes that serve them.
//!
//! The `carat` command starts it, with the settings as JSON in the environment variable `CARAT_EDGE_SETTINGS`. It exits
//! with status 0 after a stop, with 1 if it cannot boot or a second signal cuts the stop short, and with 78 for settings
//! that it does not understand. `carat-edge --limits` only prints the limits of the machine.

#![forbid(unsafe_code)]

mod admin;
mod parts;
#[cfg(test)]
mod simulation;
mod supervise;
mod tasks;

use std::future::pending;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use tokio::task::{LocalSet, spawn_local};

use crate::admin::administer;
use crate::parts::{Surroundings, Transports, check_parts, make_parts};
use crate::supervise::{
    LocalHost, Mailbox, Predecessor, Ready, Signals, Supervisor, client_memory_limit,
    descriptor_budget, inherit_listeners, reap, restart_path, take_descriptor, watch_restart_file,
};
use crate::tasks::ServerTasks;
use carat_dispatch::{Dispatcher, LaneEvents};
use carat_exchange::ClientMemory;
use carat_files::PidFile;
use carat_files::{CONFIGURATION_THREADS, blocking_threads, in_time};
use carat_http::{EdgeCore, Listener, Listeners, Part, PartTask, Server, accept, bind_all};
use carat_log::{Log, LogWriter, complaint};
use carat_machine::MachineLimits;
use carat_settings::{Identity, LogFormat, Settings};
use carat_supervisor::Outcome;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The flag that prints the limits of the machine as JSON, for programs that check it.
const LIMITS_FLAG: &str = "--limits";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(LIMITS_FLAG) {
        return print_limits();
    }
    let settings = Settings::from_environment();
    let settings = settings.and_then(|it| check_parts(&it).map(|()| it));
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => return complain(LogFormat::Text, &error, 78),
    };
    let log_format = settings.log_format;
    match serve(settings).unwrap_or_else(Outcome::Failed) {
        Outcome::Finished => ExitCode::SUCCESS,
        Outcome::Cut => ExitCode::FAILURE,
        Outcome::Failed(error) => complain(log_format, &error, 1),
    }
}

fn print_limits() -> ExitCode {
    let json = MachineLimits::read(Path::new("/")).to_json();
    match writeln!(std::io::stdout(), "{json}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(LogFormat::Text, &error.to_string(), 1),
    }
}

fn serve(settings: Settings) -> Result<Outcome, String> {
    let (inherited, predecessor) = inherit_listeners(&settings)
        .map_err(|error| format!("cannot take over the listeners: {error}"))?;
    let listeners = Rc::new(Listeners::new(inherited));
    let predecessor = predecessor.map(Rc::new);
    let outcome = boot(settings, listeners, predecessor.clone()).unwrap_or_else(Outcome::Failed);
    if let (Outcome::Failed(error), Some(predecessor)) = (&outcome, predecessor) {
        predecessor.say_failed(error);
    }
    Ok(outcome)
}

fn boot(
    settings: Settings,
    listeners: Rc<Listeners>,
    predecessor: Option<Rc<Predecessor>>,
) -> Result<Outcome, String> {
    let old_pid_file = predecessor.as_ref().and_then(|it| it.left.pid_file.clone());
    let pid_file = settings.pid_file.clone().or(old_pid_file);
    let pid_file = pid_file.map(|path| Arc::new(PidFile::new(path)));
    adopt_orphans()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(blocking_threads())
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let origin = Origin {
        listeners,
        pid_file,
        predecessor,
    };
    let server = run(Rc::new(settings), origin);
    // The server runs in a task of its own. As the future of `block_on`, it would be polled whenever any task wakes,
    // and ask for eight signals each time.
    let server = async { spawn_local(server).await };
    let outcome = LocalSet::new().block_on(&runtime, server);
    let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
    runtime.shutdown_background();
    outcome
}

/// What the server has from the process that started it, such as listeners, and its pid file.
#[derive(Clone)]
struct Origin {
    listeners: Rc<Listeners>,
    pid_file: Option<Arc<PidFile>>,
    /// The old edge of an upgrade.
    predecessor: Option<Rc<Predecessor>>,
}

/// Runs the server from its first socket to its last worker.
async fn run(settings: Rc<Settings>, origin: Origin) -> Result<Outcome, String> {
    let ready_file = take_descriptor(settings.ready_fd)
        .map_err(|error| format!("cannot write to --ready-fd: {error}"))?;
    let transports = Transports::new(&settings);
    let listeners = listen(&settings, &transports, &origin.listeners)?;
    if let (None, Some(file)) = (&origin.predecessor, origin.pid_file.clone()) {
        in_time(move || file.write())?;
    }
    let log = Log::open(&settings).map_err(|error| format!("cannot open the log: {error}"))?;
    let log = Rc::new(log);
    log.report_panics();
    let budget = descriptor_budget(&settings, &log)?;
    let ready = Ready::new(listeners.iter().map(|it| it.url()).collect(), ready_file);
    let signals = Signals::new(settings.launch.ignores_hangup)
        .map_err(|error| format!("cannot handle signals: {error}"))?;
    let (mailbox, messages) = Mailbox::channel();
    let (lanes, lane_events) = LaneEvents::channel();
    let memory = ClientMemory::new(client_memory_limit(&settings));
    let dispatcher = Dispatcher::new(&settings, &log, lanes, &budget, Rc::clone(&memory));
    let core = EdgeCore::new(&settings, &log, dispatcher, memory);
    let surroundings = Surroundings {
        transports: &transports,
        inherited: &origin.listeners,
        mailbox: &mailbox,
    };
    let server = Server::new(&core, make_parts(&core, &surroundings)?, &budget);
    let host = LocalHost::find(Rc::clone(&origin.listeners));
    let mut tasks = start_tasks(&server, &mailbox, listeners, &origin);
    let parts = Rc::clone(server.parts());
    let supervisor = Supervisor::new(host, server, mailbox, messages, lane_events, ready);
    let supervisor = supervisor
        .after(origin.predecessor)
        .map_err(|error| format!("cannot take over from the old edge: {error}"))?;
    let outcome = tokio::select! {
        outcome = supervisor.run(signals) => outcome,
        failure = tasks.failure() => Outcome::Failed(failure),
    };
    if let Outcome::Finished = outcome {
        for work in parts.iter().filter_map(Part::shut_down) {
            work.await;
        }
    }
    log.finish();
    Ok(outcome)
}

/// Starts the tasks that run besides the supervisor.
fn start_tasks(
    server: &Rc<Server>,
    mailbox: &Mailbox,
    listeners: Vec<Rc<Listener>>,
    origin: &Origin,
) -> ServerTasks {
    let mut tasks = ServerTasks::default();
    tasks.spawn("reap", reap(mailbox.clone()));
    let control = control(Rc::clone(server), mailbox.clone(), origin.clone());
    tasks.spawn("control socket", control);
    let restart_file = watch_restart_file(restart_path(server.settings()), mailbox.clone());
    tasks.spawn("restart file", restart_file);
    tasks.spawn("client memory", Rc::clone(server).watch_memory());
    for PartTask { name, work } in server.parts().iter().flat_map(Part::tasks) {
        let server = Rc::clone(server);
        tasks.spawn(name, async move {
            server.life().until_open().await;
            work.await
        });
    }
    for listener in listeners {
        tasks.spawn("accept", accept(listener, Rc::clone(server)));
    }
    tasks
}

/// Listens on every address, and becomes the user of the server.
fn listen(
    settings: &Settings,
    transports: &Transports,
    all: &Listeners,
) -> Result<Vec<Rc<Listener>>, String> {
    let become_user = || settings.identity.as_ref().map_or(Ok(()), Identity::assume);
    let listeners = bind_all(settings, &transports.list(), all, become_user)?;
    let listeners: Vec<_> = listeners.into_iter().map(Rc::new).collect();
    for listener in &listeners {
        all.add(listener.bind(), listener);
    }
    Ok(listeners)
}

/// Serves the control socket from the time when this edge accepts clients. If there was an old edge, its files are
/// taken over first.
async fn control(server: Rc<Server>, mailbox: Mailbox, origin: Origin) -> io::Result<()> {
    server.life().until_open().await;
    let predecessor = origin.predecessor.as_deref();
    if predecessor.is_some() {
        origin.listeners.close_unused();
        if let Some(file) = origin.pid_file {
            take_over(file, server.log()).await;
        }
    }
    administer(&server, &mailbox, predecessor).await;
    pending().await
}

async fn take_over(file: Arc<PidFile>, log: &Log) {
    let written = CONFIGURATION_THREADS.run(move || file.take_over()).await;
    let written = written.unwrap_or_else(|error| Err(error.to_string()));
    written.unwrap_or_else(|error| {
        log.warn("cannot take over the pid file", &[("cause", &error)]);
    });
}

/// Makes the edge the parent of the workers. The mold forks them through a process that ends at once, so that they
/// become children of the edge. The edge then reaps them, and they die with it.
fn adopt_orphans() -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("cannot become the subreaper of the workers: {error}"))
}

fn complain(format: LogFormat, error: &str, status: u8) -> ExitCode {
    // Without a standard error there is no place to write.
    if let Ok(stderr) = LogWriter::to_stderr() {
        stderr.write(complaint(format, error).as_bytes());
        stderr.finish();
    }
    ExitCode::from(status)
}
