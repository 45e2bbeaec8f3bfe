use carat_wire::Kind;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::supervise::executor::Executor;
use crate::supervise::messages::{
    ControlReply, Mailbox, Message, ProfileMessage, ProfileOrder, ProfileReply, REPLY_TIMEOUT,
};
use crate::supervise::processes::Host;
use carat_log::WorkerId;
use carat_supervisor::{RubyProcess, State};

/// The profiles of workers that are under way. A worker has at most one. It ends when its time is over, when a command
/// ends it, or when the client that wanted it is gone.
pub(crate) struct Profiles {
    mailbox: Mailbox,
    latest: u64,
    running: Vec<RunningProfile>,
}

struct RunningProfile {
    number: u64,
    worker: WorkerId,
    pid: u32,
    /// The client that waits for the profile. `None` when the reply is late or the client is gone, although the worker
    /// may still be at work.
    asker: Option<oneshot::Sender<ProfileReply>>,
}

impl Profiles {
    pub(crate) fn new(mailbox: Mailbox) -> Profiles {
        Profiles {
            mailbox,
            latest: 0,
            running: Vec::new(),
        }
    }

    pub(crate) fn handle(
        &mut self,
        message: ProfileMessage,
        state: &State,
        executor: &Executor<impl Host>,
    ) {
        match message {
            ProfileMessage::Begin(order, asker) => match self.choose(order.worker, state) {
                Ok((worker, pid)) => self.begin(order, asker, worker, pid, executor),
                // The client may be gone.
                Err(reason) => drop(asker.send(Err(reason))),
            },
            ProfileMessage::TimeIsOver(number) => {
                let mut running = self.running.iter();
                if let Some(profile) = running.find(|profile| profile.number == number) {
                    self.end_profile(profile, executor);
                }
            }
            ProfileMessage::ReplyIsLate(number) => self.give_up(number),
            ProfileMessage::Abandoned => self.end_abandoned(executor),
            ProfileMessage::Reply { process, json } => self.receive(process, &json),
        }
    }

    /// Ends the profile of the worker with this number at the request of a client.
    pub(crate) fn end(&self, worker: u32, executor: &Executor<impl Host>) -> ControlReply {
        let mut running = self.running.iter();
        let profile = running.find(|profile| profile.worker.number == worker);
        let profile = profile.ok_or_else(|| format!("worker {worker} is not being profiled"))?;
        self.end_profile(profile, executor);
        Ok(json!({ "worker": worker }))
    }

    /// Ends the profile of a worker that has ended or become the mold.
    pub(crate) fn gone(&mut self, worker: WorkerId, what: &str) {
        if let Some(mut profile) = self.take(worker) {
            let number = worker.number;
            profile.reply(Err(format!("worker {number} {what} while it was profiled")));
        }
    }

    /// Returns the worker with this number, and its process id.
    fn choose(&self, number: u32, state: &State) -> Result<(WorkerId, u32), String> {
        let (worker, pid) = numbered_worker(number, state)?;
        if self.running.iter().any(|profile| profile.worker == worker) {
            return Err(format!("worker {number} is already being profiled"));
        }
        Ok((worker, pid))
    }

    fn begin(
        &mut self,
        order: ProfileOrder,
        asker: oneshot::Sender<ProfileReply>,
        worker: WorkerId,
        pid: u32,
        executor: &Executor<impl Host>,
    ) {
        self.latest += 1;
        let number = self.latest;
        executor.begin_profile(worker, order.sampling);
        self.running.push(RunningProfile {
            number,
            worker,
            pid,
            asker: Some(asker),
        });
        let mailbox = self.mailbox.clone();
        spawn_local(async move {
            sleep(order.duration).await;
            mailbox.send(Message::Profile(ProfileMessage::TimeIsOver(number)));
        });
    }

    fn end_profile(&self, profile: &RunningProfile, executor: &Executor<impl Host>) {
        executor.send_signal(RubyProcess::Worker(profile.worker), Kind::EndProfile);
        let (number, mailbox) = (profile.number, self.mailbox.clone());
        spawn_local(async move {
            sleep(REPLY_TIMEOUT).await;
            mailbox.send(Message::Profile(ProfileMessage::ReplyIsLate(number)));
        });
    }

    fn end_abandoned(&mut self, executor: &Executor<impl Host>) {
        for profile in &mut self.running {
            if profile.asker.take_if(|asker| asker.is_closed()).is_some() {
                executor.send_signal(RubyProcess::Worker(profile.worker), Kind::EndProfile);
            }
        }
    }

    fn give_up(&mut self, number: u64) {
        let mut running = self.running.iter_mut();
        if let Some(profile) = running.find(|profile| profile.number == number) {
            let number = profile.worker.number;
            profile.reply(Err(format!(
                "worker {number} does not send its profile: its threads may keep Ruby's lock"
            )));
        }
    }

    fn receive(&mut self, process: RubyProcess, profile: &str) {
        let RubyProcess::Worker(worker) = process else {
            return;
        };
        if let Some(mut running) = self.take(worker) {
            let (number, pid) = (worker.number, running.pid);
            let json = format!(r#"{{"worker":{number},"pid":{pid},"profile":{profile}}}"#);
            running.reply(Ok(json));
        }
    }

    fn take(&mut self, worker: WorkerId) -> Option<RunningProfile> {
        let mut running = self.running.iter();
        let index = running.position(|profile| profile.worker == worker)?;
        Some(self.running.swap_remove(index))
    }
}

impl RunningProfile {
    fn reply(&mut self, reply: ProfileReply) {
        if let Some(asker) = self.asker.take() {
            // The client may be gone.
            let _ = asker.send(reply);
        }
    }
}

/// The worker with this number, and its process id. An error lists the existing numbers.
pub(crate) fn numbered_worker(number: u32, state: &State) -> Result<(WorkerId, u32), String> {
    let workers = state.processes().workers_by_number();
    let found = workers.iter().find(|(worker, _)| worker.number == number);
    let numbers = workers.iter().map(|(worker, _)| worker.number);
    found
        .copied()
        .ok_or_else(|| no_such_worker(number, numbers))
}

fn no_such_worker(number: u32, workers: impl Iterator<Item = u32>) -> String {
    let mut numbers: Vec<_> = workers.collect();
    numbers.sort_unstable();
    let numbers: Vec<_> = numbers.iter().map(u32::to_string).collect();
    match numbers.join(", ") {
        known if known.is_empty() => format!("there is no worker {number}, and no other now"),
        known => format!("there is no worker {number}, only: {known}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_worker_has_is_answered_with_those_that_there_are() {
        let none = no_such_worker(7, std::iter::empty());
        assert_eq!(none, "there is no worker 7, and no other now");
    }
}
