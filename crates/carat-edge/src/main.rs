//! `carat-edge` owns the client connections and supervises the Ruby processes that serve them.
//!
//! The `carat` command starts it, with the settings as JSON in the environment variable `CARAT_EDGE_SETTINGS`. It exits
//! with status 0 after a stop, with 1 if it cannot boot or a second signal cuts the stop short, and with 78 for settings
//! that it does not understand. `carat-edge --limits` only prints the limits of the machine.

#![forbid(unsafe_code)]

mod admin;
#[cfg(test)]
mod simulation;
mod supervise;
mod tasks;

use std::future::pending;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

use tokio::task::{LocalSet, spawn_local};

use crate::admin::{administer, serve_metrics};
use crate::supervise::{
    LocalHost, Mailbox, Predecessor, Ready, Signals, Supervisor, client_memory_limit,
    descriptor_budget, reap, restart_path, take_descriptor, watch_restart_file,
};
use crate::tasks::ServerTasks;
use carat_dispatch::{Dispatcher, LaneEvents};
use carat_exchange::ClientMemory;
use carat_files::PidFile;
use carat_files::{CONFIGURATION_THREADS, blocking_threads, in_time};
use carat_http::{Listener, Listeners, Server, SiteFiles, accept, bind_all};
use carat_log::{Log, LogWriter, complaint};
use carat_machine::MachineLimits;
use carat_settings::{Identity, LogFormat, Settings};
use carat_supervisor::Outcome;
use carat_tls::{issue_certificates, watch_certificates};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Prints what the kernel allows the server, as JSON, for `carat doctor`.
const LIMITS_FLAG: &str = "--limits";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(LIMITS_FLAG) {
        return print_limits();
    }
    let settings = match Settings::from_environment() {
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
    let predecessor = Predecessor::from_environment()
        .map_err(|error| format!("cannot take over from the old edge: {error}"))?;
    let notice = predecessor.as_ref().map(Predecessor::failure_notice);
    let outcome = boot(settings, predecessor).unwrap_or_else(Outcome::Failed);
    if let (Outcome::Failed(error), Some(Ok(notify))) = (&outcome, notice) {
        notify(error);
    }
    Ok(outcome)
}

fn boot(settings: Settings, predecessor: Option<Predecessor>) -> Result<Outcome, String> {
    let old_pid_file = predecessor.as_ref().and_then(Predecessor::pid_file);
    let pid_file = settings.pid_file.clone().or(old_pid_file);
    let pid_file = pid_file.map(|path| Arc::new(PidFile::new(path)));
    adopt_orphans()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(blocking_threads())
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let server = run(Rc::new(settings), pid_file, predecessor);
    // A task of its own: what `block_on` is given is polled at each wake-up of any task, and asks for eight signals.
    let server = async { spawn_local(server).await };
    let outcome = LocalSet::new().block_on(&runtime, server);
    let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
    runtime.shutdown_background();
    outcome
}

/// The server from its first socket to its last worker.
async fn run(
    settings: Rc<Settings>,
    pid_file: Option<Arc<PidFile>>,
    mut predecessor: Option<Predecessor>,
) -> Result<Outcome, String> {
    let ready_file = take_descriptor(settings.ready_fd)
        .map_err(|error| format!("cannot write to --ready-fd: {error}"))?;
    let listeners = listen(&settings, predecessor.as_mut())?;
    if predecessor.is_none() {
        pid_file
            .clone()
            .map_or(Ok(()), |file| in_time(move || file.write()))?;
    }
    let log = Log::open(&settings).map_err(|error| format!("cannot open the log: {error}"))?;
    let log = Rc::new(log);
    log.report_panics();
    let budget = descriptor_budget(&settings, &log)?;
    let ready = Ready::new(listeners.iter().map(|it| it.url()).collect(), ready_file);
    let signals = Signals::new(settings.ignores_hangup)
        .map_err(|error| format!("cannot handle signals: {error}"))?;
    let mailbox = Mailbox::channel();
    let (lanes, lane_events) = LaneEvents::channel();
    let memory = ClientMemory::new(client_memory_limit(&settings));
    let dispatcher = Dispatcher::new(&settings, &log, lanes, &budget, memory);
    let certificates = listeners.iter().filter_map(|it| it.certificates());
    let files = SiteFiles::open(&settings, certificates.collect(), &log)?;
    let server = Server::new(&settings, &log, dispatcher, files, &budget);
    let host = LocalHost::find(Listeners::new(&listeners));
    let old = predecessor.as_ref();
    let mut tasks = start_tasks(&server, &mailbox.0, old, (listeners, pid_file.as_ref()));
    let tracer = server.tracer.clone();
    let supervisor = Supervisor::new(host, server, mailbox, lane_events, ready);
    let supervisor = supervisor
        .after(predecessor)
        .map_err(|error| format!("cannot take over from the old edge: {error}"))?;
    let outcome = tokio::select! {
        outcome = supervisor.run(signals) => outcome,
        failure = tasks.failure() => Outcome::Failed(failure),
    };
    if let (Some(tracer), Outcome::Finished) = (tracer, &outcome) {
        tracer.finish(&log).await;
    }
    log.finish();
    Ok(outcome)
}

/// Starts what runs beside the supervisor.
fn start_tasks(
    server: &Rc<Server>,
    mailbox: &Mailbox,
    predecessor: Option<&Predecessor>,
    (listeners, pid_file): (Vec<Rc<Listener>>, Option<&Arc<PidFile>>),
) -> ServerTasks {
    let mut tasks = ServerTasks::default();
    tasks.spawn("reap", reap(mailbox.clone()));
    let old = predecessor.and_then(Predecessor::control_socket);
    let old = (predecessor.is_some(), old);
    let files = ServerFiles {
        listeners: Listeners::new(&listeners),
        pid_file: pid_file.cloned(),
    };
    let control = control(Rc::clone(server), mailbox.clone(), files, old);
    tasks.spawn("control socket", control);
    for address in server.settings.metrics.iter().cloned() {
        let metrics = serve_metrics(address, Rc::clone(server), mailbox.clone());
        tasks.spawn("metrics", metrics);
    }
    if let Some(tracer) = server.tracer.clone() {
        // No task of the server: what it fails at costs spans, and nothing else.
        spawn_local(tracer.export(Rc::clone(&server.log)));
    }
    let restart_file = watch_restart_file(restart_path(&server.settings), mailbox.clone());
    tasks.spawn("restart file", restart_file);
    if let Some(reload) = &server.dispatcher.reload {
        tasks.spawn("reload", Rc::clone(reload).load_early());
    }
    tasks.spawn("client memory", Rc::clone(server).watch_memory());
    let validations = &server.files.validations;
    let (stores, client) = (validations.stores.clone(), Rc::clone(&validations.client));
    let renewal = Rc::clone(&server.renew_certificates);
    let watch = watch_certificates(stores.clone(), renewal, Rc::clone(&server.log));
    tasks.spawn("certificates", watch);
    let issuer = Rc::clone(server);
    tasks.spawn("authority", async move {
        // Before, the server would not answer the authority.
        issuer.opened.wait().await;
        issue_certificates(stores, client, Rc::clone(&issuer.log)).await
    });
    for listener in listeners {
        tasks.spawn("accept", accept(listener, Rc::clone(server)));
    }
    tasks
}

/// Listens on every address, and becomes the user of the server.
fn listen(
    settings: &Settings,
    predecessor: Option<&mut Predecessor>,
) -> Result<Vec<Rc<Listener>>, String> {
    let become_user = || settings.identity.as_ref().map_or(Ok(()), Identity::assume);
    let handed = predecessor.map(Predecessor::take_listeners);
    let listeners = bind_all(settings, handed, become_user)?;
    Ok(listeners.into_iter().map(Rc::new).collect())
}

/// What two edges hand to each other, beside the control socket.
struct ServerFiles {
    listeners: Listeners,
    pid_file: Option<Arc<PidFile>>,
}

impl ServerFiles {
    async fn take_over(&self, log: &Log) {
        self.listeners.take_over();
        let Some(file) = self.pid_file.clone() else {
            return;
        };
        let written = CONFIGURATION_THREADS.run(move || file.take_over()).await;
        let written = written.unwrap_or_else(|error| Err(error.to_string()));
        written.unwrap_or_else(|error| {
            log.warn("cannot take over the pid file", &[("cause", &error)]);
        });
    }
}

/// Serves the control socket from the time when this edge accepts clients. An edge that succeeds another one, or whose
/// successor has died, makes the files of that one its own first. `old` is the control socket of the old edge, if there is
/// one and its options name a socket.
async fn control(
    server: Rc<Server>,
    mailbox: Mailbox,
    files: ServerFiles,
    (mut takes_over, mut old): (bool, Option<PathBuf>),
) -> io::Result<()> {
    server.opened.wait().await;
    loop {
        if takes_over {
            files.take_over(&server.log).await;
        }
        tokio::select! {
            () = server.taken_back.notified() => {}
            () = async {
                administer(&server, &mailbox, old.as_deref()).await;
                pending::<()>().await;
            } => {}
        }
        (takes_over, old) = (true, server.settings.control_socket.clone());
    }
}

/// The mold forks the workers, and the process between ends: so they become children of the edge, which reaps them, and
/// they die with it.
fn adopt_orphans() -> Result<(), String> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| format!("cannot become the subreaper of the workers: {error}"))
}

fn complain(format: LogFormat, error: &str, status: u8) -> ExitCode {
    // Without a standard error there is nowhere to write.
    if let Ok(stderr) = LogWriter::to_stderr() {
        stderr.write(complaint(format, error).as_bytes());
        stderr.finish();
    }
    ExitCode::from(status)
}
