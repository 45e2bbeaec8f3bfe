use std::cell::Cell;

/// The events of a run, as a hash. Two runs of a seed must have the same hash. A replay prints the events as well.
#[derive(Debug)]
pub(crate) struct Trace {
    is_printed: bool,
    hash: Cell<u64>,
    steps: Cell<u64>,
}

impl Trace {
    pub(crate) fn new(is_printed: bool) -> Trace {
        Trace {
            is_printed,
            hash: Cell::new(0xcbf2_9ce4_8422_2325),
            steps: Cell::new(0),
        }
    }

    /// Adds an event, at a time in microseconds.
    pub(crate) fn note(&self, at: u64, event: &'static str, subject: u64, detail: u64) {
        let mut hash = self.hash.get();
        let words = [at, event.len() as u64, subject, detail];
        for word in words.into_iter().chain(event.bytes().map(u64::from)) {
            // FNV-1a, a word at a time.
            hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.hash.set(hash);
        self.steps.set(self.steps.get() + 1);
        if self.is_printed {
            let (millis, micros) = (at / 1000, at % 1000);
            eprint(&format!(
                "{millis:>8}.{micros:03} ms  {event} {subject} {detail}"
            ));
        }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.get()
    }

    /// How many events there were.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the replay of a seed is read by people"
)]
fn eprint(line: &str) {
    eprintln!("{line}");
}
