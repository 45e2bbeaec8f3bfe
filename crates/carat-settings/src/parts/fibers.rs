use serde::Deserialize;

/// Workers that run each request in a fiber of one thread.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct FiberSettings {
    /// The requests that a worker runs at once; `None` for threads.
    pub slots: Option<u16>,
}
