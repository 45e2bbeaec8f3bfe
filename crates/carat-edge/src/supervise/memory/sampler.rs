use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

use super::container::{Container, Filling};
use super::rollup::Rollup;
use crate::dispatch::WorkerId;
use crate::supervise::event::{Event, Events};

/// A worker that is to be weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) id: WorkerId,
    pub(crate) pid: u32,
    /// Whether it is ready for work.
    pub(crate) is_ready: bool,
    /// Whether it has begun so many requests that it is hardly going to grow.
    pub(crate) is_grown: bool,
}

/// Who is to be weighed.
#[derive(Debug)]
pub(crate) struct Subjects {
    pub(crate) edge: u32,
    /// Its generation and process.
    pub(crate) mold: Option<(u32, u32)>,
    pub(crate) workers: Vec<Subject>,
    /// Molds on their way up or down.
    pub(crate) others: Vec<u32>,
}

/// What all weighed at one time. Those that had ended, or cannot be read, are not there.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) at: Instant,
    pub(crate) took: Duration,
    pub(crate) edge: Option<Rollup>,
    /// With its generation.
    pub(crate) mold: Option<(u32, Rollup)>,
    pub(crate) workers: Vec<(Subject, Rollup)>,
    others: Vec<Rollup>,
    pub(crate) filling: Filling,
}

impl Sample {
    fn take(subjects: Subjects, container: &Container) -> Sample {
        let at = Instant::now();
        let read = |pid| Rollup::of(pid).ok();
        let mold = |(generation, pid)| Some((generation, read(pid)?));
        let workers = subjects.workers.into_iter();
        Sample {
            at,
            edge: read(subjects.edge),
            mold: subjects.mold.and_then(mold),
            workers: workers
                .filter_map(|worker| Some((worker, read(worker.pid)?)))
                .collect(),
            others: subjects.others.into_iter().filter_map(read).collect(),
            filling: container.filling(),
            took: at.elapsed(),
        }
    }

    /// What all weigh together, swapped out or not.
    pub(crate) fn total(&self) -> u64 {
        let mold = self.mold.iter().map(|(_, rollup)| rollup);
        let workers = self.workers.iter().map(|(_, rollup)| rollup);
        let all = self.edge.iter().chain(mold).chain(workers);
        let all = all.chain(&self.others);
        all.map(|rollup| rollup.pss + rollup.swap).sum()
    }
}

/// Weighs all processes now and then, on a thread that may wait for it: the kernel walks through a process for
/// milliseconds.
#[derive(Debug)]
pub(crate) struct Sampler {
    due: Instant,
    is_reading: bool,
}

impl Sampler {
    pub(crate) fn new(now: Instant) -> Sampler {
        Sampler {
            due: now,
            is_reading: false,
        }
    }

    /// Whether it is time; never while a sample is being taken.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        !self.is_reading && now >= self.due
    }

    /// Whether nothing has changed since the last sample was taken, as far as is known.
    pub(crate) fn is_current(&self, now: Instant) -> bool {
        !self.is_reading && now < self.due
    }

    /// Something has changed: the next sample is taken as soon as can be.
    pub(crate) fn hurry(&mut self, now: Instant) {
        self.due = now;
    }

    /// Takes a sample; it comes as an event.
    pub(crate) fn begin(&mut self, subjects: Subjects, container: Container, events: Events) {
        self.is_reading = true;
        // Until its sample is there nobody knows when the next one is due, but somebody may be in a hurry.
        self.due += Duration::from_secs(3600);
        spawn_blocking(move || {
            events.send(Event::Measured(Sample::take(subjects, &container)));
        });
    }

    /// The sample is there; the next one is due after a pause.
    pub(crate) fn finish(&mut self, now: Instant, pause: Duration) {
        self.is_reading = false;
        self.due = self.due.min(now + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn nobody() -> Subjects {
        Subjects {
            edge: std::process::id(),
            mold: None,
            workers: Vec::new(),
            others: Vec::new(),
        }
    }

    fn here() -> Container {
        Container::find(std::path::Path::new("/"))
    }

    #[tokio::test]
    async fn one_sample_is_taken_at_a_time_and_the_next_after_the_pause() {
        let now = Instant::now();
        let (events, mut received) = Events::channel();
        let mut sampler = Sampler::new(now);
        assert!(sampler.is_due(now));
        sampler.begin(nobody(), here(), events);
        assert!(!sampler.is_due(now + SECOND));
        let event = received.recv().await.expect("a sample");
        let Event::Measured(sample) = event else {
            panic!("{event:?}");
        };
        assert!(sample.total() > 0);
        assert!(!sampler.is_current(now));
        sampler.finish(now, SECOND);
        assert!(!sampler.is_due(now + SECOND / 2));
        assert!(sampler.is_current(now + SECOND / 2));
        assert!(sampler.is_due(now + SECOND));
    }

    #[tokio::test]
    async fn who_is_in_a_hurry_while_one_is_taken_gets_the_next() {
        let now = Instant::now();
        let mut sampler = Sampler::new(now);
        sampler.begin(nobody(), here(), Events::channel().0);
        sampler.hurry(now);
        sampler.finish(now, SECOND * 5);
        assert!(sampler.is_due(now));
    }
}
