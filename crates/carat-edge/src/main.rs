//! `carat-edge`: owns the client connections, and supervises the Ruby processes that answer them.
//!
//! It is started by the `carat` command, which hands it the settings as JSON in the environment
//! variable `CARAT_EDGE_SETTINGS`. Exit status 0 after a stop, 1 when it cannot boot or a second
//! signal cuts the stop short, 78 for settings that it does not understand.

#![forbid(unsafe_code)]

mod admin;
mod body;
mod dispatch;
mod exchange;
mod http;
mod log;
mod log_writer;
mod settings;
mod supervise;
mod timestamp;

use std::process::ExitCode;
use std::rc::Rc;

use tokio::task::{LocalSet, spawn_local};

use crate::admin::administer;
use crate::body::response::encoding_threads;
use crate::dispatch::{Dispatcher, LaneEvents};
use crate::http::{Listener, Server, accept, bind_all};
use crate::log::Log;
use crate::log_writer::LogWriter;
use crate::settings::Settings;
use crate::supervise::{Ending, Events, Fatal, Ready, Signals, Supervisor, reap};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Threads that wait for disks; the connections have one thread for all of them.
const DISK_THREADS: usize = 4;

fn main() -> ExitCode {
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(error) => return complain(&error, 78),
    };
    match serve(settings) {
        Ok(Ending::Finished) => ExitCode::SUCCESS,
        Ok(Ending::Cut) => ExitCode::FAILURE,
        Err(Fatal(error)) => complain(&error, 1),
    }
}

fn serve(settings: Settings) -> Result<Ending, Fatal> {
    adopt_orphans()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(DISK_THREADS + encoding_threads())
        .build()
        .map_err(|error| Fatal(format!("cannot start: {error}")))?;
    let ending = LocalSet::new().block_on(&runtime, run(Rc::new(settings)));
    runtime.shutdown_background();
    ending
}

/// The server from its first socket to its last worker.
async fn run(settings: Rc<Settings>) -> Result<Ending, Fatal> {
    let log = Rc::new(
        Log::open(&settings).map_err(|error| Fatal(format!("cannot open the log: {error}")))?,
    );
    log.report_panics();
    let listeners = bind_all(&settings.bind, settings.backlog).map_err(Fatal)?;
    let urls = listeners.iter().map(Listener::url).collect();
    let ready = Ready::new(urls, settings.ready_fd)
        .map_err(|error| Fatal(format!("cannot write to --ready-fd: {error}")))?;
    let signals =
        Signals::new().map_err(|error| Fatal(format!("cannot handle signals: {error}")))?;
    let (events, received) = Events::channel();
    let (lanes, lane_events) = LaneEvents::channel();
    let dispatcher = Dispatcher::new(&settings, &log, lanes);
    let server = Server::new(&settings, &log, dispatcher);
    spawn_local(reap(events.clone()));
    spawn_local(administer(settings, Rc::clone(&log), events.clone()));
    for listener in listeners {
        spawn_local(accept(listener, Rc::clone(&server)));
    }
    let ending = Supervisor::new(server, (events, received), lane_events, ready)
        .run(signals)
        .await;
    log.finish();
    ending
}

/// Workers are forked by the mold, and become children of the edge when the process between has
/// ended: so they are reaped here, and die with the edge.
fn adopt_orphans() -> Result<(), Fatal> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| {
        Fatal(format!(
            "cannot become the subreaper of the workers: {error}"
        ))
    })
}

fn complain(error: &str, status: u8) -> ExitCode {
    // Without a standard error there is nobody to tell.
    if let Ok(stderr) = LogWriter::to_stderr() {
        stderr.write(format!("carat: {}\n", error.trim_end()).as_bytes());
        stderr.finish();
    }
    ExitCode::from(status)
}
