use std::time::Instant;

use rustix::process::Signal;

use super::mold::Mold;
use super::signals::signal_process;
use super::supervisor::{Fatal, Supervisor};

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
        } else if self.mold_backoff.allows(now) {
            self.generation += 1;
            let mold = Mold::start(&self.server.settings, self.generation, self.events.clone());
            self.mold =
                Some(mold.map_err(|error| Fatal(format!("cannot start the mold: {error}")))?);
        }
        Ok(())
    }

    pub(super) fn mold_ready(&mut self, generation: u32) {
        if let Some(mold) = self
            .mold
            .as_mut()
            .filter(|mold| mold.generation == generation)
        {
            mold.is_ready = true;
            self.mold_backoff.succeed();
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
        if let Some(mold) = self
            .mold
            .as_ref()
            .filter(|mold| mold.generation == generation && mold.is_ready)
        {
            signal_process(mold.pid, Signal::KILL);
        }
    }

    /// The mold could not load the application. At the first boot that is the end of the server.
    pub(super) fn mold_failed(&mut self, text: &str) -> Result<(), Fatal> {
        self.mold = None;
        if !self.announced {
            return Err(Fatal(text.to_owned()));
        }
        let delay = self.mold_backoff.fail(Instant::now());
        self.log_boot_error("mold failed to boot", delay, text);
        Ok(())
    }
}
