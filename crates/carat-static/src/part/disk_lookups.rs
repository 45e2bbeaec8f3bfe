use std::sync::Arc;
use std::time::Duration;

use crate::LookupError;
use tokio::time::timeout;

use carat_exchange::Refusal;
use carat_files::LOOKUP_THREADS;

/// The most lookups that may wait for a disk at once. Beyond them, requests are refused at once: a
/// disk that lets this many wait does not respond.
const LOOKUPS_LIMIT: usize = 256;

/// How long a disk may take to tell whether there is a file.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// Lookups of files on threads that may wait for a disk. Each lookup holds a reference until it
/// ends, even if no request waits for it any more: so the running ones can be counted.
#[derive(Default)]
pub(super) struct DiskLookups(Arc<()>);

impl DiskLookups {
    /// Looks for a file, and returns what is found in time.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> Result<T, LookupError> + Send + 'static,
    ) -> Result<T, Refusal> {
        if Arc::strong_count(&self.0) > LOOKUPS_LIMIT {
            return Err(Refusal::FileNotOpened);
        }
        let running = Arc::clone(&self.0);
        let looking = LOOKUP_THREADS.run(move || {
            let found = look();
            drop(running);
            found
        });
        match timeout(LOOKUP_TIMEOUT, looking).await {
            Ok(Ok(Ok(found))) => Ok(found),
            Ok(Ok(Err(_)) | Err(_)) | Err(_) => Err(Refusal::FileNotOpened),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::mpsc::channel;

    use tokio::task::{LocalSet, spawn_local};

    use super::*;

    #[test]
    fn a_disk_that_does_not_respond_gets_no_more_lookups_than_the_limit() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().max_blocking_threads(1).build();
        let runtime = runtime.expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let lookups = Rc::new(DiskLookups::default());
            let (respond, disk) = channel::<()>();
            let stuck = Rc::clone(&lookups);
            let first =
                spawn_local(async move { stuck.ask(move || Ok(disk.recv().is_ok())).await });
            let waiting: Vec<_> = (1..LOOKUPS_LIMIT)
                .map(|_| {
                    let lookups = Rc::clone(&lookups);
                    spawn_local(async move { lookups.ask(|| Ok(true)).await })
                })
                .collect();
            while Arc::strong_count(&lookups.0) <= LOOKUPS_LIMIT {
                tokio::task::yield_now().await;
            }
            assert_eq!(lookups.ask(|| Ok(())).await, Err(Refusal::FileNotOpened));
            respond.send(()).expect("the disk waits");
            assert_eq!(first.await.expect("no panic"), Ok(true));
            for lookup in waiting {
                assert_eq!(lookup.await.expect("no panic"), Ok(true));
            }
            assert_eq!(lookups.ask(|| Ok(())).await, Ok(()));
        });
    }
}
