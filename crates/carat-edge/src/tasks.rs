use std::collections::HashMap;
use std::io;

use tokio::task::{Id, JoinError, JoinSet};

/// The tasks that the server needs. Each runs until the server stops.
#[derive(Default)]
pub(crate) struct ServerTasks {
    tasks: JoinSet<io::Result<()>>,
    names: HashMap<Id, &'static str>,
}

impl ServerTasks {
    /// Starts a task. It may end without an error only when the server stops.
    pub(crate) fn spawn(
        &mut self,
        name: &'static str,
        task: impl Future<Output = io::Result<()>> + 'static,
    ) {
        let handle = self.tasks.spawn_local(task);
        self.names.insert(handle.id(), name);
    }

    /// Waits until a task fails or panics, and returns why.
    pub(crate) async fn failure(&mut self) -> String {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            let (id, cause) = match ended {
                Ok((_, Ok(()))) => continue,
                Ok((id, Err(error))) => (id, error.to_string()),
                Err(error) => (error.id(), panic_of(error)),
            };
            let name = self.names.get(&id).copied().unwrap_or("unknown");
            return format!("the server cannot go on: its task `{name}` died: {cause}");
        }
        std::future::pending().await
    }
}

/// The message of a task's panic.
fn panic_of(error: JoinError) -> String {
    let fallback = error.to_string();
    let Ok(panic) = error.try_into_panic() else {
        return fallback;
    };
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or(fallback)
}

#[cfg(test)]
mod tests {
    use tokio::task::{LocalSet, yield_now};

    use super::*;

    /// The failure that `failure` returns, or `None` if it waits.
    fn failure_of(tasks: impl FnOnce(&mut ServerTasks)) -> Option<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let mut all = ServerTasks::default();
            all.spawn("running", std::future::pending());
            tasks(&mut all);
            tokio::select! {
                biased;
                failure = all.failure() => Some(failure),
                () = others_ran() => None,
            }
        })
    }

    /// Lets every other task run until it waits.
    async fn others_ran() {
        for _ in 0..8 {
            yield_now().await;
        }
    }

    #[test]
    fn a_task_that_panics_is_a_failure_of_the_server() {
        let failure = failure_of(|tasks| tasks.spawn("accept", async { panic!("no luck") }));
        let expected = "the server cannot go on: its task `accept` died: no luck";
        assert_eq!(failure.as_deref(), Some(expected));
    }

    #[test]
    fn a_task_that_returns_an_error_is_a_failure_of_the_server() {
        let broken = async { Err(io::Error::other("no descriptor")) };
        let failure = failure_of(|tasks| tasks.spawn("reap", broken));
        let expected = "the server cannot go on: its task `reap` died: no descriptor";
        assert_eq!(failure.as_deref(), Some(expected));
    }

    #[test]
    fn a_task_that_ends_without_an_error_is_no_failure() {
        let failure = failure_of(|tasks| tasks.spawn("accept", async { Ok(()) }));
        assert_eq!(failure, None);
    }
}
