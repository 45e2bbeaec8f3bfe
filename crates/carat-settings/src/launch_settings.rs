use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The settings that the launcher adds to the options: the commands that it runs, and the surroundings of the server.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct LaunchSettings {
    /// The command that starts a mold.
    pub mold_command: Vec<String>,
    /// The command that prints what these settings are with the configuration as it is when it runs.
    pub reader_command: Vec<String>,
    /// The command that starts a server with the configuration, the Ruby, and the Carat that are there when it runs.
    pub upgrade_command: Vec<String>,
    /// The variables that the mold gets in addition to the edge's environment.
    pub mold_environment: BTreeMap<String, String>,
    /// The options that only a start applies and that the edge does not read, for `reader_command` to compare.
    pub start_options: IgnoredAny,
    /// The name of a control socket, with `PID` for the process id of its server.
    pub control_socket_name: String,
    /// The directories where a control socket may be, the best first.
    pub control_directories: Vec<PathBuf>,
    /// Whether the server began with SIGHUP ignored, as `nohup` starts it.
    pub ignores_hangup: bool,
}
