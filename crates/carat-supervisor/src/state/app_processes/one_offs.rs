use carat_settings::{ProcessSettings, RestartPolicy};
use rustix::process::Signal;

use super::app_process::AppProcess;
use super::declaration::Declaration;
use crate::command::{AppCommand, Command};
use crate::ruby_process::AppProcessId;
use crate::state::reaction::Reaction;

/// The generation of a process that waits for a mold.
const NO_GENERATION: u32 = 0;

/// The one-off processes. Each runs once, for a client of the control socket. None is replaced when it ends.
#[derive(Debug, Default)]
pub(crate) struct OneOffProcesses {
    /// The processes by their names. The config file cannot declare a process with one of these names.
    pub(super) of_names: Vec<Declaration>,
    /// Whether all are to end.
    pub(super) are_ending: bool,
}

impl OneOffProcesses {
    /// Adds a process, which is forked as soon as a mold can fork.
    pub(super) fn open(&mut self, id: AppProcessId, name: &str, reaction: &Reaction) {
        let mut known = self.of_names.iter();
        let known = known.position(|it| it.settings.name == name);
        let index = known.unwrap_or_else(|| {
            self.of_names.push(one_offs(name));
            self.of_names.len() - 1
        });
        self.of_names[index].add(id, NO_GENERATION, reaction);
    }

    /// Ends the processes that are overdue, or all if they are to end. Forks the waiting processes from the mold of
    /// this generation.
    pub(super) fn advance(&mut self, generation: Option<u32>, reaction: &mut Reaction) {
        for processes in &mut self.of_names {
            processes.end_overdue(reaction);
            if let Some(generation) = generation {
                fork_waiting(processes, generation, reaction);
            }
            if self.are_ending {
                let staying = processes.members.iter().filter(|it| it.stays());
                for id in staying.map(|it| it.id).collect::<Vec<_>>() {
                    end(processes, id, reaction);
                }
            }
        }
    }

    /// Sends a signal to a process and its descendants.
    pub(crate) fn signal(&self, id: AppProcessId, signal: i32, reaction: &mut Reaction) {
        for processes in &self.of_names {
            send_signal(processes, id, signal, reaction);
        }
    }

    /// Ends a process whose client is gone.
    pub(crate) fn leave(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        for processes in &mut self.of_names {
            end(processes, id, reaction);
        }
    }
}

/// The one-off processes of one name. Each is ended by SIGHUP, the signal that a terminal sends when it is closed.
fn one_offs(name: &str) -> Declaration {
    let settings = ProcessSettings {
        name: name.to_owned(),
        count: 0,
        most: 0,
        memory: None,
        stop_signal: Signal::HUP.as_raw(),
        stop_timeout: None,
        restart: RestartPolicy::Never,
        overlap: false,
        is_command: true,
    };
    let mut processes = Declaration::new(settings);
    (processes.is_declared, processes.is_one_off) = (false, true);
    processes
}

fn fork_waiting(processes: &mut Declaration, generation: u32, reaction: &mut Reaction) {
    let is_waiting = |it: &&mut AppProcess| is_unforked(it) && it.stays();
    for process in processes.members.iter_mut().filter(is_waiting) {
        process.generation = generation;
        reaction.push(process.fork_command(&processes.settings));
    }
}

fn send_signal(processes: &Declaration, id: AppProcessId, signal: i32, reaction: &mut Reaction) {
    let process = processes.members.iter().find(|it| it.id == id);
    if let Some(pid) = process.and_then(|it| it.pid) {
        reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
    }
}

/// Ends the process with this id, if it is one of these: its client is gone, or the server stops.
fn end(processes: &mut Declaration, id: AppProcessId, reaction: &mut Reaction) {
    let mut members = processes.members.iter_mut();
    match members.find(|it| it.id == id && it.stays()) {
        Some(process) if is_unforked(process) => {
            processes.lose(id, "the server is stopping", reaction);
        }
        Some(process) => {
            process.end(&processes.settings, "process is hung up", reaction);
            // A process that is suspended does not handle SIGHUP before it gets SIGCONT.
            send_signal(processes, id, Signal::CONT.as_raw(), reaction);
        }
        None => {}
    }
}

/// Whether no mold was told to fork the process.
fn is_unforked(process: &AppProcess) -> bool {
    process.generation == NO_GENERATION
}
