use std::time::{Duration, Instant};

use carat_policy::{ContainerMemory, EdgeMemory, Elastic};

use super::command::MemorySubject;
use super::exit_status::ExitStatus;
use super::generation_settings::GenerationSettings;
use super::ruby_process::{AppProcessId, RubyProcess};
use carat_log::{LaneTag, WorkerId};
use serde::Serialize;

/// Where a request stands.
#[derive(Clone, PartialEq, Eq)]
pub struct StackReport {
    /// The lane that runs it.
    pub tag: LaneTag,
    /// The number of the request on its lane.
    pub request: u32,
    /// The operation for which the request's thread or fiber waits.
    pub waits_for: String,
    /// The calls, a line for each; empty when nobody knows.
    pub stack: String,
}

/// A thing that happened to the server or to one of its processes, as plain data.
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum Event {
    /// The command that loads the application runs.
    MoldStarted {
        generation: u32,
        pid: u32,
    },
    /// The command that loads the application cannot be run.
    MoldStartFailed {
        generation: u32,
        cause: String,
    },
    /// The sockets of a new worker cannot be made.
    ForkFailed {
        worker: WorkerId,
        cause: String,
    },
    /// The control socket of a further process of the application cannot be made.
    AppForkFailed {
        id: AppProcessId,
        cause: String,
    },
    /// A client of the control socket wants a console, which gets this id.
    ConsoleRequested(AppProcessId),
    /// The client of a console sends the console a signal.
    ConsoleSignaled {
        id: AppProcessId,
        signal: i32,
    },
    /// The client of a console is gone.
    ConsoleLeft(AppProcessId),
    /// No process of this group is left.
    GroupEnded(AppProcessId),
    /// A process sent its first message.
    Hello {
        process: RubyProcess,
        pid: u32,
    },
    Ready(RubyProcess),
    BootFailed {
        process: RubyProcess,
        cause: String,
    },
    /// The worker that was promoted to this generation cannot be a mold, nor can any other worker of its own.
    NotForkSafe {
        generation: u32,
        cause: String,
    },
    /// A worker that was asked could become the mold, or why not.
    ForkSafety {
        worker: WorkerId,
        result: Result<(), String>,
    },
    /// Where a request stands, which was asked because it was stuck.
    Stack(StackReport),
    /// A worker got a signal to end from another process, or cannot go on.
    Leaving(WorkerId),
    /// A process closed its control socket.
    Closed(RubyProcess),
    /// A worker closed a lane.
    LaneLost(WorkerId),
    /// A worker could not open the descriptors of a request.
    DescriptorsLost(WorkerId),
    /// All lanes of a draining worker are empty.
    Drained(WorkerId),
    /// A request exceeded `request_timeout`.
    LaneStuck {
        tag: LaneTag,
        request: u32,
    },
    /// The requests, idle times, and tunnels of the workers; sent before each tick and each memory reading.
    Traffic(Vec<WorkerTraffic>),
    MemoryRead(MemoryReading),
    /// From now on clients may make the edge hold this many bytes.
    ClientsLimited(u64),
    /// A child process ended.
    Exited {
        pid: u32,
        status: ExitStatus,
    },
    /// Sent every 100 ms, and more often during a stop.
    Tick(Tick),
    /// The number of workers follows the load between these bounds from now on.
    Scaled(Elastic),
    /// The number of processes of this name stays between these bounds from now on.
    AppScaled {
        name: String,
        bounds: (u32, u32),
    },
    /// A process that was forked to measure the load of the processes of its name reports that load.
    AppLoad(AppProcessId, f64),
    /// The processes of this name, or the one with this number, are to be replaced.
    AppReplaced {
        name: String,
        number: Option<u32>,
    },
    /// Somebody wants this worker killed.
    KillRequested(WorkerId),
    /// New code is to take over.
    RestartRequested,
    /// Source files have changed.
    ReloadRequested,
    /// The previous mold is to take over.
    RollbackRequested,
    /// The configuration was read anew; with the names of options whose change only a new start can bring.
    SettingsRead(Box<GenerationSettings>, Vec<String>),
    /// The configuration cannot be read.
    SettingsFailed {
        cause: String,
    },
    /// The worker on trial answered as it should, or why not.
    Checked {
        worker: WorkerId,
        result: Result<(), String>,
    },
    /// A new edge is to take over.
    UpgradeRequested,
    /// The command that starts the new edge runs.
    SuccessorStarted {
        pid: u32,
    },
    /// The new edge accepts clients.
    SuccessorReady {
        pid: u32,
    },
    /// The new edge has failed or ended before it was ready, or cannot be started: then it has no process id.
    SuccessorFailed {
        pid: Option<u32>,
        cause: String,
    },
    /// The old edge has ended, or has ended its further processes of the application after this one was ready.
    PredecessorLeft,
    /// SIGTERM, SIGINT, or `carat stop`.
    StopRequested,
}

/// The state of the server at a tick.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tick {
    /// How long requests waited for a lane since the last tick.
    pub queue_time: Duration,
    /// How many requests are waiting.
    pub waiting: usize,
    /// Whether a client is connected.
    pub has_clients: bool,
    /// How many clients are connected.
    pub clients: usize,
}

/// The work of one worker.
#[derive(Clone, Copy)]
pub struct WorkerTraffic {
    /// Which worker.
    pub worker: WorkerId,
    /// How many requests it was given.
    pub requests: u64,
    /// How long it has had no request.
    pub idle: Duration,
    /// How many connections its application has taken over.
    pub tunnels: usize,
}

/// A further process of the application, at one time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AppReading {
    /// Which process.
    pub id: AppProcessId,
    /// The private memory of the process, with that of its descendants.
    pub private: u64,
    /// How much more it would take if it shared no memory, with its descendants.
    pub saved: u64,
    /// How many processes it has forked that run.
    pub descendants: u32,
}

/// The memory of one process, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessMemory {
    /// `edge`, `mold`, `worker`, or `app`: a further process of the application, with its descendants.
    pub kind: &'static str,
    /// The process id.
    pub pid: u32,
    /// Resident, with each shared page divided by the number of processes that share it.
    pub pss: u64,
    /// Resident in no other process.
    pub private: u64,
    /// Resident in other processes as well.
    pub shared: u64,
}

/// The memory of all processes at one time. Processes that ended, or cannot be read, are missing.
#[derive(Clone)]
pub struct MemoryReading {
    /// When it was read.
    pub at: Instant,
    /// How long the reading took.
    pub took: Duration,
    /// The edge itself.
    pub edge: EdgeMemory,
    /// Memory of all Ruby processes together that no file backs, each shared page counted once, swapped out or not.
    pub ruby: u64,
    /// Generation and anonymous memory of the mold, shared with workers or not.
    pub mold: Option<(u32, u64)>,
    /// The most memory that the mold ever had which no file backs, in bytes; `None` where the kernel does not say.
    pub mold_peak: Option<u64>,
    /// Private memory of each worker.
    pub workers: Vec<(MemorySubject, u64)>,
    /// The further processes of the application.
    pub apps: Vec<AppReading>,
    /// Each process, for reports.
    pub processes: Vec<ProcessMemory>,
    /// The memory of the server's control group.
    pub container: ContainerMemory,
    /// How many processors the container has.
    pub processors: u32,
}
