use std::collections::HashMap;

use carat_supervisor::{RubyProcess, RunningProcess};
use carat_wire::Kind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::supervise::executor::Executor;
use crate::supervise::messages::StatsMessage;
use crate::supervise::processes::Host;

/// The time of the garbage collectors, and the memory of the compilers, of the Ruby processes; collected while
/// monitoring is on. Workers are asked every few seconds, and only if they have served since: a question would make an
/// idle worker write to the pages that it shares.
#[derive(Default)]
pub(crate) struct RubyFigures {
    /// The figures by process id.
    known: HashMap<u32, Figures>,
    gc_seconds: [f64; KINDS.len()],
}

/// Kinds of processes, as reports name them.
const KINDS: [&str; 2] = ["mold", "worker"];

#[derive(Clone, Copy)]
struct Figures {
    process: RubyProcess,
    /// How many requests the worker had been given when it was asked.
    requests: u64,
    is_silent: bool,
    /// The seconds of garbage collection at the last reply. `None` from the moment when a worker becomes the mold until
    /// its next reply: that reply includes its time as a worker, which does not count for the mold.
    gc_seconds: Option<f64>,
    jit_bytes: u64,
}

/// The figures that a process reports about itself.
#[derive(Deserialize)]
struct SaidFigures {
    gc: SaidCollector,
    jit: Option<SaidCode>,
}

#[derive(Deserialize)]
struct SaidCollector {
    seconds: f64,
}

#[derive(Deserialize)]
struct SaidCode {
    code: Option<u64>,
}

impl RubyFigures {
    /// Asks the processes whose figures may have changed. A process that has not replied is not asked again.
    pub(crate) fn ask(&mut self, running: &[RunningProcess], executor: &Executor<impl Host>) {
        self.known
            .retain(|pid, _| running.iter().any(|it| it.pid == *pid));
        for it in running.iter().filter(|it| it.listens) {
            let requests = match it.process {
                RubyProcess::Worker(worker) => executor.requests(worker),
                RubyProcess::Mold(_) | RubyProcess::App(_) => 0,
            };
            if self.expect(it, requests) {
                executor.send_signal(it.process, Kind::AskStats);
            }
        }
    }

    /// Expects a reply; true if the process is to be asked for it.
    fn expect(&mut self, running: &RunningProcess, requests: u64) -> bool {
        let process = running.process;
        let first = Figures {
            process,
            requests,
            is_silent: false,
            gc_seconds: Some(0.0),
            jit_bytes: 0,
        };
        let is_new = !self.known.contains_key(&running.pid);
        let known = self.known.entry(running.pid).or_insert(first);
        let is_promoted = known.process != process;
        if !is_new && !is_promoted && (known.is_silent || known.requests == requests) {
            return false;
        }
        if is_promoted {
            known.gc_seconds = None;
        }
        (known.process, known.requests, known.is_silent) = (process, requests, true);
        true
    }

    /// Notes the figures if the message is the reply of a process.
    pub(crate) fn receive(&mut self, message: &StatsMessage) {
        if let StatsMessage::Reply { process, json } = message {
            self.note(*process, json);
        }
    }

    fn note(&mut self, process: RubyProcess, json: &str) {
        let asked = self.known.values_mut().find(|it| it.process == process);
        let (Some(known), Ok(said)) = (asked, serde_json::from_str::<SaidFigures>(json)) else {
            return;
        };
        known.is_silent = false;
        let before = known.gc_seconds.replace(said.gc.seconds);
        let took = before.map_or(0.0, |before| said.gc.seconds - before);
        self.gc_seconds[kind(process)] += took.max(0.0);
        known.jit_bytes = said.jit.and_then(|jit| jit.code).unwrap_or(0);
    }

    /// The figures for each kind of process: the CPU time of the garbage collectors, including processes that have
    /// ended, and the bytes of machine code of the running ones.
    pub(crate) fn report(&self) -> Vec<Value> {
        let figure = |(index, kind_name): (usize, &&'static str)| {
            let of_kind = self.known.values().filter(|it| kind(it.process) == index);
            let jit_bytes: u64 = of_kind.map(|it| it.jit_bytes).sum();
            let gc_seconds = self.gc_seconds[index];
            json!({ "kind": kind_name, "gc_seconds": gc_seconds, "jit_bytes": jit_bytes })
        };
        KINDS.iter().enumerate().map(figure).collect()
    }
}

/// An index of [`KINDS`].
fn kind(process: RubyProcess) -> usize {
    usize::from(matches!(process, RubyProcess::Worker(_)))
}

#[cfg(test)]
mod tests {
    use carat_log::WorkerId;
    use carat_supervisor::Role;

    use super::*;

    const WORKER: RubyProcess = RubyProcess::Worker(WorkerId {
        number: 1,
        serial: 1,
    });

    fn running(process: RubyProcess) -> RunningProcess {
        RunningProcess {
            process,
            role: Role::Worker,
            generation: 1,
            pid: 42,
            listens: true,
        }
    }

    fn said(seconds: f64, code: u64) -> String {
        format!(r#"{{"gc":{{"seconds":{seconds}}},"jit":{{"code":{code}}}}}"#)
    }

    fn figures(of: &RubyFigures) -> Vec<(f64, u64)> {
        let report = of.report().into_iter().zip(KINDS);
        let figures = report.map(|(it, kind)| {
            assert_eq!(it["kind"], kind);
            (it["gc_seconds"].as_f64(), it["jit_bytes"].as_u64())
        });
        figures
            .map(|(seconds, bytes)| seconds.zip(bytes).expect("numbers"))
            .collect()
    }

    #[test]
    fn a_process_is_asked_when_it_has_served_and_has_replied_before() {
        let mut ruby = RubyFigures::default();
        assert!(ruby.expect(&running(WORKER), 0));
        assert!(!ruby.expect(&running(WORKER), 5));
        ruby.note(WORKER, &said(0.5, 1000));
        assert!(!ruby.expect(&running(WORKER), 0));
        assert!(ruby.expect(&running(WORKER), 5));
        ruby.note(WORKER, &said(0.75, 1200));
        ruby.note(RubyProcess::Mold(1), &said(9.0, 9));
        ruby.note(WORKER, "{}");
        assert_eq!(figures(&ruby), [(0.0, 0), (0.75, 1200)]);
    }

    #[test]
    fn a_worker_that_becomes_the_mold_brings_its_code_and_no_time() {
        let mut ruby = RubyFigures::default();
        ruby.expect(&running(WORKER), 0);
        ruby.note(WORKER, &said(0.5, 1000));
        let mold = RubyProcess::Mold(2);
        assert!(ruby.expect(&running(mold), 0) && !ruby.expect(&running(mold), 0));
        ruby.note(mold, &said(3.5, 1200));
        assert_eq!(figures(&ruby), [(0.0, 1200), (0.5, 0)]);
    }
}
