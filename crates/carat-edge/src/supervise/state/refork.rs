use std::time::Instant;

use carat_policy::{ReforkRule, Reforks};

use super::reaction::Reaction;
use super::worker::Worker;
use crate::dispatch::WorkerId;
use crate::supervise::log_line::LogLine;

/// When a worker becomes the mold, and which workers that makes outdated.
#[derive(Debug)]
pub(super) struct Refork {
    rule: ReforkRule,
    pub(super) reforks: Reforks,
    /// The worker that is to say whether it could be the mold.
    pub(super) asked: Option<AskedWorker>,
    /// Private memory of the worker that is to be the mold, when it was chosen.
    pub(super) promoted_private: Option<u64>,
    /// Workers of older generations are to be replaced.
    pub(super) oldest_generation: u32,
}

/// A worker that was asked, and until when it may reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedWorker {
    pub(super) id: WorkerId,
    pub(super) deadline: Instant,
}

impl Refork {
    pub(super) fn new(rule: ReforkRule, now: Instant) -> Refork {
        Refork {
            reforks: Reforks::new(rule.clone(), now),
            rule,
            asked: None,
            promoted_private: None,
            oldest_generation: 0,
        }
    }

    /// New code took over in this generation: workers of all others are outdated, and what was measured does not count.
    pub(super) fn restart(&mut self, rule: ReforkRule, generation: u32, now: Instant) {
        *self = Refork::new(rule, now);
        self.oldest_generation = generation;
    }

    /// The rule that holds.
    pub(super) fn rule(&self) -> &ReforkRule {
        &self.rule
    }

    /// The worker cannot be the mold, or did not get as far as being told to be it.
    pub(super) fn candidate_fails(
        &mut self,
        worker: &Worker,
        cause: &str,
        reaction: &mut Reaction,
    ) {
        let line = worker.identify(LogLine::warn("worker did not become the mold"));
        reaction.log(line.text("cause", cause));
        self.promoted_private = None;
        self.reforks.failed(reaction.now);
    }
}
