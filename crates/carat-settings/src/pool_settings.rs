use serde::Deserialize;

/// Requests that together get at most so many lanes: a `pool` of the config file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolSettings {
    /// The name of the pool in reports.
    pub name: String,
    /// Paths of its requests; anything may follow one that ends with `*`.
    pub paths: Vec<String>,
    /// How many of them workers run at once; `None` for no bound.
    pub threads: Option<usize>,
    /// How many of them may wait; `None` for as many as of all others.
    pub queue_limit: Option<usize>,
    /// The order in which waiting requests are next.
    pub priority: PoolPriority,
}

/// Whether the requests of a pool get a free lane before or after others, however long these have waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolPriority {
    /// After all others.
    Low,
    /// By the time of arrival.
    #[default]
    Normal,
    /// Before all others.
    High,
}
