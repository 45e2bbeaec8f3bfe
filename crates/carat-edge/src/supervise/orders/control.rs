//! The requests of control-socket clients that the supervisor carries out.

use std::ops::RangeInclusive;
use std::time::Duration;

use carat_policy::{Elastic, WorkerCount};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::supervise::messages::{ControlReply, ControlRequest};
use crate::supervise::processes::Host;
use crate::supervise::reports::{listed_requests, numbered_worker, server_status};
use crate::supervise::supervisor::Supervisor;
use crate::supervise::upgrade::container_obstacle;
use carat_exchange::clock;
use carat_http::Server;
use carat_machine::Machine;
use carat_supervisor::{
    AppEvent, Event, Outcome, RestartEvent, RestartReport, State, UpgradeEvent, WantedProcesses,
    WorkerEvent,
};

/// The reply to a request, and the outcome of the server if it ends.
type Ordered = Result<(Value, Option<Outcome>), String>;

impl<H: Host> Supervisor<H> {
    /// Carries out a request, and replies when it is done. Returns the outcome of the server if it ends.
    pub(crate) fn control(
        &mut self,
        request: ControlRequest,
        asker: oneshot::Sender<ControlReply>,
    ) -> Option<Outcome> {
        if let (ControlRequest::Upgrade, None) = (&request, upgrade_obstacle(&self.state)) {
            self.handover.await_reply(asker);
            return self.handle([Event::Upgrade(UpgradeEvent::Requested)]);
        }
        let (reply, outcome) = match self.order(request) {
            Ok((reply, outcome)) => (Ok(reply), outcome),
            Err(cause) => (Err(cause), None),
        };
        // The client may be gone.
        let _ = asker.send(reply);
        outcome
    }

    fn order(&mut self, request: ControlRequest) -> Ordered {
        let is_stopping = self.state.is_stopping();
        let is_draining = self.state.draining_for(clock::now()).is_some();
        match request {
            ControlRequest::Status { asks_ruby } => Ok((self.report(asks_ruby), None)),
            ControlRequest::Overview => Ok((self.overview(), None)),
            ControlRequest::RestartReport(number) => {
                Ok((restart_report(&self.state, number)?, None))
            }
            // Without an obstacle, the upgrade has begun already.
            ControlRequest::Upgrade => {
                Err(upgrade_obstacle(&self.state).unwrap_or_default().to_owned())
            }
            // A second order to stop ends the drain delay.
            ControlRequest::Stop if is_draining => Ok(self.stop_server()),
            _ if is_stopping => Err("the server is stopping".to_owned()),
            ControlRequest::Stop => Ok(self.stop_server()),
            ControlRequest::Restart => self.restart(),
            ControlRequest::Rollback => self.roll_back(),
            ControlRequest::Scale(count) => Ok(self.scale(count)),
            ControlRequest::ScaleApp {
                name,
                bounds: (min, max),
            } => self.scale_app(name, min..=max),
            ControlRequest::KillApp { name, number } => self.kill_app(name, number),
            ControlRequest::Pause(duration) => Ok((pause(&self.server, duration), None)),
            ControlRequest::Resume => Ok((resume(&self.server)?, None)),
            ControlRequest::EndProfile(number) => {
                Ok((self.reports.profiles.end(number, &self.executor)?, None))
            }
            ControlRequest::KillWorker(number) => self.kill_worker(number),
        }
    }

    fn status(&self) -> Value {
        let mut status = server_status(&self.server, &self.state, &self.executor);
        self.reports.add_to_status(&mut status);
        status
    }

    fn overview(&self) -> Value {
        let mut overview = self.status();
        let figures = self.server.figures();
        (overview["requests"], overview["omitted"]) = listed_requests(figures);
        overview
    }

    fn report(&mut self, asks_ruby: bool) -> Value {
        if asks_ruby {
            self.reports.ask_ruby(&self.state, &self.executor);
        }
        self.status()
    }

    fn stop_server(&mut self) -> (Value, Option<Outcome>) {
        let seconds = self.state.stops_within().as_secs_f64();
        let outcome = self.handle([Event::StopRequested]);
        (json!({ "stops_within": seconds }), outcome)
    }

    fn restart(&mut self) -> Ordered {
        if self.state.upgrades().is_under_way() {
            return Err("an upgrade is under way".to_owned());
        }
        Ok(self.replace_code(Event::Restart(RestartEvent::Requested)))
    }

    fn roll_back(&mut self) -> Ordered {
        if !self.state.may_roll_back() {
            let cause = "there is nothing to go back to: no previous mold is kept (keep_previous)";
            return Err(cause.to_owned());
        }
        Ok(self.replace_code(Event::Restart(RestartEvent::RollbackRequested)))
    }

    /// Begins a restart or a rollback, and replies with its number.
    fn replace_code(&mut self, event: Event) -> (Value, Option<Outcome>) {
        let outcome = self.handle([event]);
        let number = self.state.restarts().latest();
        (json!({ "number": number }), outcome)
    }

    fn scale(&mut self, count: WorkerCount) -> (Value, Option<Outcome>) {
        let target = self.state.limits().elastic.queue_time_target;
        let processors = Machine::read(std::path::Path::new("/")).processors;
        let elastic = Elastic::new(count, target, processors);
        let before = self.state.limits().elastic;
        let outcome = self.handle([Event::Scaled(elastic)]);
        let now = self.state.limits().elastic;
        let reply = json!({ "before": [before.min, before.max], "workers": [now.min, now.max] });
        (reply, outcome)
    }

    fn scale_app(&mut self, name: String, bounds: RangeInclusive<u32>) -> Ordered {
        let declared = declared(&self.state, &name)?;
        if !declared.has_load && bounds.start() != bounds.end() {
            return Err(format!("process {name} has no load to follow"));
        }
        let ends = |it: &RangeInclusive<u32>| [*it.start(), *it.end()];
        let (before, count) = (ends(&declared.bounds), ends(&bounds));
        let reply = json!({ "process": name, "before": before, "count": count });
        let outcome = self.handle([Event::App(AppEvent::Scaled { name, bounds })]);
        Ok((reply, outcome))
    }

    fn kill_app(&mut self, name: String, number: Option<u32>) -> Ordered {
        declared(&self.state, &name)?;
        let statuses = self.state.apps().statuses(clock::now());
        let of_name = statuses.filter(|it| it.name == name);
        let meant = of_name.filter(|it| number.is_none_or(|number| it.number == number));
        let pids: Vec<u32> = meant.filter_map(|it| it.pid).collect();
        if pids.is_empty() {
            let number = number.map_or(String::new(), |it| format!(" with the number {it}"));
            return Err(format!("process {name}{number} does not run now"));
        }
        let reply = json!({ "process": name, "pids": pids });
        let outcome = self.handle([Event::App(AppEvent::Replaced { name, number })]);
        Ok((reply, outcome))
    }

    fn kill_worker(&mut self, number: u32) -> Ordered {
        let (worker, pid) = numbered_worker(number, &self.state)?;
        let running = self.server.figures().running_on(worker);
        let outcome = self.handle([Event::Worker(WorkerEvent::KillRequested(worker))]);
        let reply = json!({ "worker": number, "pid": pid, "running": running });
        Ok((reply, outcome))
    }
}

/// The state of the restart with this number.
fn restart_report(state: &State, number: u32) -> ControlReply {
    let report = state.restarts().report(number);
    let report = report.ok_or_else(|| format!("restart {number} is not known"))?;
    let (name, cause) = match report {
        RestartReport::Queued => ("queued", None),
        RestartReport::UnderWay(step) => (step, None),
        RestartReport::Done => ("done", None),
        RestartReport::Failed(cause) => ("failed", Some(cause)),
    };
    Ok(json!({
        "state": name,
        "cause": cause,
        "generation": state.processes().generation(),
        "old_workers": state.processes().old_workers(),
        "workers": state.processes().workers.wanted,
        // How long requests waited in the queue because no worker ran, in seconds.
        "waited": state.restarts().waited(number).map(|it| it.as_secs_f64()),
    }))
}

/// Why no upgrade can begin now; `None` if one can.
fn upgrade_obstacle(state: &State) -> Option<&'static str> {
    state.upgrade_obstacle().or_else(container_obstacle)
}

/// The processes that the config file declares by this name.
fn declared(state: &State, name: &str) -> Result<WantedProcesses, String> {
    let declared = state.apps().wanted();
    let found = declared.iter().find(|it| it.name == name).cloned();
    found.ok_or_else(|| {
        let known: Vec<_> = declared.into_iter().map(|it| it.name).collect();
        if known.is_empty() {
            return "the config file declares no process".to_owned();
        }
        let known = known.join(", ");
        format!("the config file declares no process {name}, only: {known}")
    })
}

fn pause(server: &Server, duration: Duration) -> Value {
    let dispatcher = server.dispatcher();
    dispatcher.hold(clock::now(), duration);
    let seconds = duration.as_secs_f64();
    let message = "paused: requests wait in the queue";
    server
        .log()
        .info(message, &[("seconds", &format!("{seconds}"))]);
    json!({
        "seconds": seconds,
        "running": server.figures().running(),
        "queue_limit": server.settings().queue_limit,
    })
}

fn resume(server: &Server) -> ControlReply {
    let waiting = server.figures().waiting();
    if !server.dispatcher().release_hold(clock::now()) {
        return Err("the server is not paused".to_owned());
    }
    server.log().info("resumed", &[]);
    Ok(json!({ "waiting": waiting }))
}
