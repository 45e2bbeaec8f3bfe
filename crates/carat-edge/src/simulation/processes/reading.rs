use std::time::Duration;

use carat_policy::{ContainerMemory, EdgeMemory};

use crate::simulation::processes::process_table::ProcessTable;
use carat_exchange::clock;
use carat_supervisor::{AppReading, AppSubject, MemoryReading, MemorySubjects};

/// The memory of these processes now.
pub(crate) fn reading(subjects: &MemorySubjects, world: &ProcessTable) -> MemoryReading {
    let processes = world.processes.borrow();
    let bytes = |pid: u32| processes.get(&pid).map(|process| process.bytes);
    let workers = subjects.workers.iter();
    let workers: Vec<_> = workers
        .filter_map(|subject| Some((*subject, bytes(subject.pid)?)))
        .collect();
    let mold = subjects.mold.filter(|(_, pid)| processes.contains_key(pid));
    let descendants = world.descendants.borrow();
    let app = |app: &AppSubject| AppReading {
        id: app.id,
        private: bytes(app.group).unwrap_or_default(),
        saved: world.random.pick(&[0, 64 << 20]),
        descendants: descendants.get(&app.group).copied().unwrap_or_default(),
    };
    MemoryReading {
        apps: subjects.apps.iter().map(app).collect(),
        at: clock::now(),
        took: Duration::from_millis(1),
        edge: EdgeMemory::default(),
        ruby: processes.values().map(|process| process.bytes).sum(),
        mold: mold.and_then(|(generation, pid)| Some((generation, bytes(pid)?))),
        mold_peak: None,
        workers,
        processes: Vec::new(),
        container: ContainerMemory {
            oom_kills: world.oom_kills.get(),
            ..ContainerMemory::default()
        },
        processors: 1,
    }
}
