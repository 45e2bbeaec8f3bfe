//! The values of the option table, which the launcher passes to the edge as JSON.

mod durations;
mod identity;
mod launch_settings;
mod parts;
mod pool_settings;
mod process_settings;
mod settings;
mod url_prefix;

pub use identity::Identity;
pub use launch_settings::LaunchSettings;
pub use parts::*;
pub use pool_settings::{PoolPriority, PoolSettings};
pub use process_settings::{ProcessSettings, RestartPolicy};
pub use settings::{
    LogFormat, ProxyHeaders, QueueOrder, RequestMode, SETTINGS_VARIABLE, Settings, UPGRADE_VARIABLE,
};
pub use url_prefix::UrlPrefix;
