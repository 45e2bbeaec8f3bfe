use serde::Deserialize;

/// The processes that clients of the control socket get of their own.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct ConsoleSettings {
    /// Whether they get any.
    pub enabled: bool,
}
