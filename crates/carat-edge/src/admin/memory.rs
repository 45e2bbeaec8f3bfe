use std::rc::Rc;

use http::StatusCode;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;

use super::own;
use super::report::{Budget, Report, Server, Weight};
use crate::settings::Settings;
use crate::supervise::{Allowance, Event, Events, Process, Role, Rollup, Survey};

/// Weighs the processes of the server.
#[derive(Debug)]
pub(super) struct Scales {
    settings: Rc<Settings>,
    events: Events,
    /// Whoever asks meanwhile waits: the disks' threads are not all taken for this.
    turn: Semaphore,
}

impl Scales {
    pub(super) fn new(settings: Rc<Settings>, events: Events) -> Scales {
        Scales {
            settings,
            events,
            turn: Semaphore::new(1),
        }
    }

    /// What each process weighs, as JSON.
    pub(super) async fn weigh(&self) -> Result<String, StatusCode> {
        let (asker, answer) = oneshot::channel();
        self.events.send(Event::Census(asker));
        // The supervisor is gone when the server is about to end.
        let survey = answer.await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        let _turn = self.turn.acquire().await;
        let server = Server {
            version: self.settings.version.clone(),
            pid: std::process::id(),
        };
        spawn_blocking(move || report(server, survey))
            .await
            .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// Reads what the kernel knows of the processes. Those that have ended meanwhile weigh nothing, and are left out.
fn report(server: Server, survey: Survey) -> String {
    let edge = Process {
        role: Role::Edge,
        number: None,
        generation: None,
        pid: server.pid,
        requests: None,
        figures: Some(own::figures().to_string()),
    };
    let all = std::iter::once(edge).chain(survey.processes);
    let weights = all.filter_map(|process| match Rollup::of(process.pid) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        rollup => Some(Weight {
            process,
            rollup: rollup.ok(),
        }),
    });
    let budget = survey.allowance.as_ref().map(budget);
    let report = Report::new(server, weights.collect(), budget);
    serde_json::to_string(&report).expect("a report has no keys but strings")
}

fn budget(allowance: &Allowance) -> Budget {
    let container = allowance.container.filling().limit;
    Budget::new(
        allowance.limit,
        allowance.used,
        container,
        allowance.machine,
    )
}
