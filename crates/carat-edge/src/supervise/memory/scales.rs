use std::path::Path;
use std::time::Instant;

use super::budget::{Budget, Load, cost};
use super::container::Container;
use super::machine::Machine;
use super::oom_kills::OomKills;
use super::pace::{self, Approach};
use super::remedy::Remedy;
use super::rollup::Rollup;
use super::sampler::{Sample, Sampler};
use super::trend::Trend;
use crate::settings::MemoryBudget;

/// All that is known of the memory of the server.
#[derive(Debug)]
pub(crate) struct Scales {
    memory: MemoryBudget,
    pub(crate) machine: Machine,
    pub(crate) container: Container,
    pub(crate) sampler: Sampler,
    pub(crate) oom_kills: OomKills,
    /// Of the edge.
    pub(crate) edge: Option<Rollup>,
    /// `None` until all have been weighed once.
    pub(crate) all: Option<Whole>,
    /// For a worker that is above `worker_memory`, and for one that alone is more than the budget.
    pub(crate) worker_remedy: Remedy,
    pub(crate) budget_remedy: Remedy,
    /// Whether somebody was told that workers are missing for want of memory.
    pub(crate) is_shortage_told: bool,
}

/// All processes together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Whole {
    pub(crate) budget: Budget,
    pub(crate) used: Trend,
}

impl Scales {
    pub(crate) fn new(memory: MemoryBudget, now: Instant) -> Scales {
        let container = Container::find(Path::new("/"));
        Scales {
            memory,
            machine: Machine::look(Path::new("/")),
            oom_kills: OomKills::since(container.oom_kills()),
            container,
            sampler: Sampler::new(now),
            edge: None,
            all: None,
            worker_remedy: Remedy::default(),
            budget_remedy: Remedy::default(),
            is_shortage_told: false,
        }
    }

    /// One more sample of the whole.
    pub(crate) fn note(&mut self, sample: &Sample) {
        self.edge = sample.edge.or(self.edge);
        self.oom_kills.note(sample.filling.oom_kills, sample.at);
        let budget = Budget::new(self.memory, &sample.filling, self.machine.memory);
        let used = budget.used(sample.total(), &sample.filling);
        let before = self.all.map(|all| all.used);
        let used = Trend::after(before, used, budget.limit, sample.at);
        if !budget.is_over(used.bytes) {
            self.budget_remedy.rest(sample.at);
        }
        self.all = Some(Whole { budget, used });
    }

    /// The next sample is due when one of these, or the whole, may have come to its limit.
    pub(crate) fn pace(&mut self, sample: &Sample, workers: impl Iterator<Item = Approach>) {
        let whole = self.all.map(|all| all.used.approach(all.budget.limit));
        let pause = pace::pause(workers.chain(whole), sample.took);
        self.sampler.finish(sample.at + sample.took, pause);
    }

    /// How many more workers may be started, beside those that stay. None before anybody was weighed; any number where
    /// the kernel does not tell.
    pub(crate) fn room(&self, staying: &[Load], mold: Option<&Rollup>) -> u32 {
        let Some(all) = self.all else {
            return 0;
        };
        cost(staying, mold.map(|rollup| rollup.anonymous_pss)).map_or(u32::MAX, |cost| {
            all.budget.room(all.used.bytes, cost, staying)
        })
    }

    /// Something is done about the whole: it is judged anew.
    pub(crate) fn forgive(&mut self) {
        if let Some(all) = &mut self.all {
            all.used = all.used.forgiven();
        }
    }

    /// Whether a process that was killed was taken by the OOM killer.
    pub(crate) fn took(&mut self, now: Instant) -> bool {
        let count = self.container.oom_kills();
        self.oom_kills.explains(count, now)
    }
}
