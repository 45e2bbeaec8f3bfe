use std::time::Duration;

use super::exit_status::ExitStatus;
use super::log_line::LogLine;
use super::ruby_process::{AppProcessId, RubyProcess};
use carat_log::{LaneTag, WorkerId};

/// An order of the supervisor's state to its executor, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// An order about a mold.
    Mold(MoldCommand),
    /// An order about a worker.
    Worker(WorkerCommand),
    /// An order about a further process of the application.
    App(AppCommand),
    /// An order about the clients and their requests.
    Clients(ClientsCommand),
    /// An order about an upgrade.
    Upgrade(UpgradeCommand),
    /// Read the configuration anew, for the mold that boots next.
    ReadSettings,
    /// Tell a process to end.
    End(RubyProcess),
    /// Send SIGTERM.
    Terminate { pid: u32 },
    /// Send SIGKILL.
    Kill { pid: u32 },
    /// Close the control socket of a process.
    CloseControl(RubyProcess),
    /// Read the memory of these processes.
    ReadMemory(MemorySubjects),
    /// Divide the limit of open files among clients and at most this many workers.
    DivideFiles { workers: u32 },
    /// Write a line to the log.
    Log(LogLine),
    /// Report to the log and to `--ready-fd` that the server is ready.
    Announce,
    /// The server is over.
    Exit(Outcome),
}

/// An order about a mold, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoldCommand {
    /// Run the command that loads the application.
    Boot {
        generation: u32,
        settings: BootSettings,
    },
    /// Apply the settings of this generation from now on.
    Adopt { generation: u32 },
    /// The mold forks workers of this generation from now on.
    Renumber { before: u32, generation: u32 },
    /// Tell the mold to end with the server, and so to run its `at_exit` blocks.
    EndWithServer { generation: u32 },
}

/// An order about a worker, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerCommand {
    /// Ask the mold of this generation to fork a worker. A worker on trial gets no request before it is admitted.
    Fork {
        worker: WorkerId,
        generation: u32,
        is_trial: bool,
    },
    /// Send a worker on trial the requests of `restart_check`.
    Check { worker: WorkerId, generation: u32 },
    /// End the trial of a worker: it takes requests from the queue.
    Admit(WorkerId),
    /// Give a worker no more requests, and report when its lanes are empty.
    Drain(WorkerId),
    /// Tell a worker to end without waiting for its requests. Their clients no longer expect a response.
    EndNow(WorkerId),
    /// Ask a worker whether it could be the mold.
    AskForkSafety(WorkerId),
    /// Tell a worker to return the memory that it does not use.
    TrimMemory(WorkerId),
    /// Let a worker run a full garbage collection while it serves nobody.
    Collect(WorkerId),
    /// Tell a worker to be the mold of this generation.
    Promote { worker: WorkerId, generation: u32 },
    /// Ask a worker where the thread of this request is.
    AskStack { tag: LaneTag, request: u32 },
    /// Close the lanes of a worker as soon as everything that it sent is read.
    CloseLanes(WorkerId),
}

/// An order about the clients and their requests, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientsCommand {
    /// Hold the requests while no worker runs and the next mold boots. This wait does not count against
    /// `queue_timeout`.
    HoldRequests,
    /// End the hold of `HoldRequests`: workers run again, or are about to.
    ReleaseRequests,
    /// Report how a restart ended: the workers that take requests have the newest code, or the reason why they do not.
    EndRestart(Result<(), String>),
    /// Apply the client memory that follows from this memory budget in bytes.
    Limit { budget: u64 },
    /// Keep serving, and make clients go elsewhere: the server is about to stop.
    TurnAway,
    /// Accept no client, and close each connection after its response: the server stops within this time.
    StopAccepting(Duration),
    /// Refuse all requests that are not answered yet.
    CutOff,
}

/// An order about an upgrade, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpgradeCommand {
    /// Start a new edge that is to take over.
    StartSuccessor,
    /// Report that the new edge does not take over, for this reason.
    KeepServing { cause: String },
    /// Stop accepting clients, because the new edge with this process id accepts them. The connected clients are still
    /// served, and are made to reconnect to the new edge.
    HandOver { pid: u32 },
}

/// An order about a further process of the application, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppCommand {
    /// Ask the mold of this generation to fork a process.
    Fork {
        id: AppProcessId,
        name: String,
        number: u32,
        generation: u32,
    },
    /// Tell a process to run the application's block, or the command of the client of a one-off process.
    Begin(AppProcessId),
    /// Tell the client of this one-off process how it has ended, or why it was not started.
    OneOffEnded {
        id: AppProcessId,
        end: Result<ExitStatus, String>,
    },
    /// Send this signal to a process.
    Signal { pid: u32, signal: i32 },
    /// Send this signal to the process group of a process; 0 sends none. If no process is left in the group, that is
    /// reported.
    SignalGroup {
        id: AppProcessId,
        pid: u32,
        signal: i32,
    },
}

/// The settings with which a mold boots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BootSettings {
    /// The settings of the server's current generation.
    Current,
    /// The settings that were read last.
    New,
}

/// How the server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All requests were finished, or `shutdown_timeout` passed.
    Finished,
    /// A second signal cut the stop short.
    Cut,
    /// The server has failed, for this reason.
    Failed(String),
}

/// The processes whose memory is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySubjects {
    /// The generation and the process id of the mold.
    pub mold: Option<(u32, u32)>,
    /// The workers, ready or not.
    pub workers: Vec<MemorySubject>,
    /// The further processes of the application.
    pub apps: Vec<AppSubject>,
    /// Process ids of molds that are starting or ending.
    pub others: Vec<u32>,
}

/// A further process of the application whose memory is read, together with the memory of its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppSubject {
    /// The process.
    pub id: AppProcessId,
    /// The process id of its group.
    pub group: u32,
}

/// A worker whose memory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySubject {
    /// The worker.
    pub worker: WorkerId,
    /// The process id of the worker.
    pub pid: u32,
    /// Whether the worker takes requests.
    pub is_ready: bool,
    /// Whether the worker has served enough requests for its full size: it will hardly grow.
    pub is_grown: bool,
}
