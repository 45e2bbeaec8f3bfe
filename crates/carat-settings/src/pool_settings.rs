use serde::Deserialize;

/// A class of requests that together may hold a limited number of lanes: a `pool` of the config file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolSettings {
    /// The name of the pool in reports.
    pub name: String,
    /// The paths of the requests. A path that ends with `*` stands for all paths with this beginning.
    pub paths: Vec<String>,
    /// How many of the requests workers run at once; `None` for no bound.
    pub threads: Option<usize>,
    /// How many of the requests may wait; `None` for the server's `queue_limit`.
    pub queue_limit: Option<usize>,
    /// When waiting requests of the pool get a lane, compared with other pools.
    pub priority: PoolPriority,
}

/// Whether the requests of a pool get a free lane before or after the requests of other pools, whichever have waited
/// longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolPriority {
    /// After the requests of all other pools.
    Low,
    /// In the order of arrival.
    #[default]
    Normal,
    /// Before the requests of all other pools.
    High,
}
