use carat_settings::{ProcessSettings, RestartPolicy};
use rustix::process::Signal;

use super::app_process::AppProcess;
use super::declaration::Declaration;
use crate::command::{AppCommand, Command};
use crate::ruby_process::AppProcessId;
use crate::state::reaction::Reaction;

/// The name that `carat status` gives to consoles. No process can be declared by this name.
const CONSOLE: &str = "console";

/// The generation of a console that waits for a mold.
const NO_GENERATION: u32 = 0;

/// The consoles that clients of the control socket have asked for. None is replaced, and no number of them is wanted.
#[derive(Debug)]
pub(crate) struct ConsoleProcesses {
    pub(super) processes: Declaration,
    /// Whether all are to end.
    pub(super) are_ending: bool,
}

impl Default for ConsoleProcesses {
    /// A console gets what a terminal sends when it is closed.
    fn default() -> ConsoleProcesses {
        let settings = ProcessSettings {
            name: CONSOLE.to_owned(),
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
        (processes.is_declared, processes.is_console) = (false, true);
        ConsoleProcesses {
            processes,
            are_ending: false,
        }
    }
}

impl ConsoleProcesses {
    /// Adds a console, which is forked as soon as a mold can.
    pub(super) fn open(&mut self, id: AppProcessId, reaction: &Reaction) {
        self.processes.add(id, NO_GENERATION, reaction);
    }

    /// Ends consoles that are overdue, or all, and forks those that wait from the mold of this generation.
    pub(super) fn advance(&mut self, generation: Option<u32>, reaction: &mut Reaction) {
        self.processes.end_overdue(reaction);
        let Declaration {
            members, settings, ..
        } = &mut self.processes;
        if let Some(generation) = generation {
            let is_waiting = |it: &&mut AppProcess| is_unforked(it) && it.stays();
            for console in members.iter_mut().filter(is_waiting) {
                console.generation = generation;
                reaction.push(console.fork_command(settings));
            }
        }
        if self.are_ending {
            let staying = members.iter().filter(|it| it.stays());
            for id in staying.map(|it| it.id).collect::<Vec<_>>() {
                self.leave(id, reaction);
            }
        }
    }

    /// Sends a signal to a console and what it has forked.
    pub(crate) fn signal(&self, id: AppProcessId, signal: i32, reaction: &mut Reaction) {
        let mut consoles = self.processes.members.iter();
        if let Some(pid) = consoles.find(|it| it.id == id).and_then(|it| it.pid) {
            reaction.push(Command::App(AppCommand::SignalGroup { id, pid, signal }));
        }
    }

    /// Ends a console whose client is gone, or whose server is about to be.
    pub(crate) fn leave(&mut self, id: AppProcessId, reaction: &mut Reaction) {
        let Declaration {
            members, settings, ..
        } = &mut self.processes;
        let console = members.iter_mut().find(|it| it.id == id && it.stays());
        match console {
            Some(console) if is_unforked(console) => {
                self.processes.lose(id, "the server is stopping", reaction);
            }
            Some(console) => {
                console.end(settings, "console is hung up", reaction);
                // A console that is stopped gets no other signal.
                self.signal(id, Signal::CONT.as_raw(), reaction);
            }
            None => {}
        }
    }
}

/// Whether no mold was told to fork the console.
fn is_unforked(console: &AppProcess) -> bool {
    console.generation == NO_GENERATION
}
