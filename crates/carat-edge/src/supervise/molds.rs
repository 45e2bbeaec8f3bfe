use std::time::Instant;

use rustix::process::Signal;

use super::mold::Mold;
use super::reap::Ended;
use super::signals::signal_process;
use super::supervisor::{Fatal, Supervisor};
use crate::log::Field;

/// The life of molds.
impl Supervisor {
    pub(super) fn keep_mold(&mut self, now: Instant) -> Result<(), Fatal> {
        let limit = self.server.settings.boot_timeout;
        if let Some(mold) = &self.mold {
            if !mold.is_ready && now.duration_since(mold.started) > limit {
                signal_process(mold.pid, Signal::KILL);
                return self.mold_failed(&format!(
                    "the application did not load within {limit:?} (boot_timeout)"
                ));
            }
        } else if !self.promotion.has_heir() && self.mold_backoff.allows(now) {
            self.generation += 1;
            let mold = Mold::start(&self.server.settings, self.generation, self.events.clone());
            self.mold =
                Some(mold.map_err(|error| Fatal(format!("cannot start the mold: {error}")))?);
        }
        Ok(())
    }

    pub(super) fn mold_ready(&mut self, generation: u32) {
        if self.promotion.is_heir(generation) {
            self.take_over();
        }
        if let Some(mold) = self
            .mold
            .as_mut()
            .filter(|mold| mold.generation == generation)
        {
            mold.is_ready = true;
            self.mold_backoff.succeed();
            self.scales.sampler.hurry(Instant::now());
            self.boot_errors.forget();
            let milliseconds = mold.started.elapsed().as_millis();
            self.server.log.info(
                "mold ready",
                &[
                    ("gen", &generation),
                    ("pid", &mold.pid),
                    ("boot_ms", &milliseconds),
                ],
            );
        }
    }

    /// The mold has closed its control socket: it is dead, or as good as that.
    pub(super) fn mold_closed(&mut self, generation: u32) {
        if self.promotion.is_heir(generation) {
            return self.heir_closed();
        }
        if let Some(mold) = self
            .mold
            .as_ref()
            .filter(|mold| mold.generation == generation && mold.is_ready)
        {
            signal_process(mold.pid, Signal::KILL);
        }
    }

    /// The mold is dead.
    pub(super) fn mold_died(&mut self, cause: &Ended) -> Result<(), Fatal> {
        let is_taken = cause.is_kill() && self.scales.took(Instant::now());
        let whose = if is_taken { " of the OOM killer" } else { "" };
        let cause = format!("{cause}{whose}");
        match &self.mold {
            Some(mold) if mold.is_ready => {
                let fields: [Field<'_>; 3] = [
                    ("gen", &mold.generation),
                    ("pid", &mold.pid),
                    ("cause", &cause),
                ];
                self.server.log.error("mold died", &fields);
                self.mold = None;
                self.mold_backoff.fail(Instant::now());
                Ok(())
            }
            _ => self.mold_failed(&format!("the mold ended ({cause})")),
        }
    }

    /// The mold could not load the application. At the first boot that is the end of the server.
    pub(super) fn mold_failed(&mut self, text: &str) -> Result<(), Fatal> {
        let Some(mold) = self.mold.take() else {
            return Ok(());
        };
        if mold.generation == 1 {
            return Err(Fatal(text.to_owned()));
        }
        let delay = self.mold_backoff.fail(Instant::now());
        let who: [Field<'_>; 2] = [("gen", &mold.generation), ("pid", &mold.pid)];
        let log = &self.server.log;
        self.boot_errors
            .log(log, "mold failed to boot", &who, delay, text);
        Ok(())
    }
}
