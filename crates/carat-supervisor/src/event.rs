use std::ops::RangeInclusive;
use std::time::Duration;

use carat_policy::Elastic;

use super::exit_status::ExitStatus;
use super::generation_settings::GenerationSettings;
use super::reading::{MemoryReading, StackReport, Tick, WorkerTraffic};
use super::ruby_process::{AppProcessId, RubyProcess};
use carat_log::{LaneTag, WorkerId};

/// A thing that happened to the server or to one of its processes, as plain data.
pub enum Event {
    /// A mold, a worker, or a further process of the application started, is ready, failed, or ended.
    Process(ProcessEvent),
    /// A thing that only happens to workers.
    Worker(WorkerEvent),
    /// A thing that only happens to further processes of the application.
    App(AppEvent),
    /// A restart is requested, or takes a step.
    Restart(RestartEvent),
    /// An upgrade is requested, or takes a step.
    Upgrade(UpgradeEvent),
    /// The requests, idle times, and tunnels of the workers; sent before each tick and each memory reading.
    Traffic(Vec<WorkerTraffic>),
    /// The memory of all processes was read.
    MemoryRead(MemoryReading),
    /// From now on clients may make the edge hold this many bytes.
    ClientsLimited(u64),
    /// Sent every 100 ms, and more often during a stop.
    Tick(Tick),
    /// `carat scale` has set the bounds of the number of workers.
    Scaled(Elastic),
    /// SIGTERM, SIGINT, or `carat stop`.
    StopRequested,
}

/// A step in the life of a Ruby process.
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum ProcessEvent {
    /// The command that loads the application runs.
    MoldStarted { generation: u32, pid: u32 },
    /// A process sent its first message.
    Hello { process: RubyProcess, pid: u32 },
    /// A process has booted.
    Ready(RubyProcess),
    /// A process cannot be started, or has said why it cannot boot.
    BootFailed { process: RubyProcess, cause: String },
    /// The worker that was promoted to this generation cannot be a mold, nor can any other worker of its own.
    NotForkSafe { generation: u32, cause: String },
    /// A process has run the full garbage collection that it was told to run.
    Collected {
        process: RubyProcess,
        took: Duration,
    },
    /// A process closed its control socket.
    Closed(RubyProcess),
    /// A child process ended, maybe one that is no Ruby process.
    Exited { pid: u32, status: ExitStatus },
}

/// A thing that happened to a worker.
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum WorkerEvent {
    /// The sockets of a new worker cannot be made.
    ForkFailed { worker: WorkerId, cause: String },
    /// The reply of a worker that was asked whether it could become the mold: it could, or the reason why it could not.
    ForkSafety {
        worker: WorkerId,
        result: Result<(), String>,
    },
    /// The stack of a request that was stuck.
    Stack(StackReport),
    /// A worker cannot continue, or got a signal to end that the supervisor did not send.
    Leaving(WorkerId),
    /// A worker closed a lane.
    LaneLost(WorkerId),
    /// A worker could not open the descriptors of a request.
    DescriptorsLost(WorkerId),
    /// All lanes of a draining worker are empty.
    Drained(WorkerId),
    /// A request exceeded `request_timeout`.
    LaneStuck { tag: LaneTag, request: u32 },
    /// A user ordered that this worker be killed.
    KillRequested(WorkerId),
}

/// A thing that happened to a further process of the application, or an order for the processes of one name.
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum AppEvent {
    /// A client of the control socket wants a one-off process of this name, which gets this id.
    OneOffRequested {
        id: AppProcessId,
        name: &'static str,
    },
    /// The client of a one-off process sends it a signal.
    OneOffSignaled { id: AppProcessId, signal: i32 },
    /// The client of a one-off process is gone.
    OneOffLeft(AppProcessId),
    /// No process of this group is left.
    GroupEnded(AppProcessId),
    /// A load was measured by a process that was forked for that.
    Load { meter: AppProcessId, load: f64 },
    /// The number of processes of this name stays between these bounds from now on.
    Scaled {
        name: String,
        bounds: RangeInclusive<u32>,
    },
    /// A user ordered the replacement of the processes of this name, or of the process with this number.
    Replaced { name: String, number: Option<u32> },
}

/// A step of a restart.
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum RestartEvent {
    /// A restart was requested: new code is to take over.
    Requested,
    /// Source files have changed.
    CodeChanged,
    /// A rollback was requested: the previous mold is to take over.
    RollbackRequested,
    /// The configuration was read anew.
    SettingsRead {
        settings: Box<GenerationSettings>,
        /// The names of the options that have changed and take effect only at an upgrade or the next start.
        unchanged: Vec<String>,
    },
    /// The configuration cannot be read.
    SettingsFailed { cause: String },
    /// The worker on trial gave the expected responses, or the reason why it did not.
    Checked {
        worker: WorkerId,
        result: Result<(), String>,
    },
}

/// A step of an upgrade.
#[expect(missing_docs, reason = "fields are named after what they hold")]
pub enum UpgradeEvent {
    /// An upgrade was requested: a new edge is to take over.
    Requested,
    /// The command that starts the new edge runs.
    SuccessorStarted { pid: u32 },
    /// The new edge accepts clients.
    SuccessorReady { pid: u32 },
    /// The new edge has failed or ended before it was ready. It has no process id if it could not be started.
    SuccessorFailed { pid: Option<u32>, cause: String },
    /// The old edge has ended, or all of its further processes have ended after this edge was ready.
    PredecessorLeft,
}
