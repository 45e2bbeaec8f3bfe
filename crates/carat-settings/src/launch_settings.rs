use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The settings that the launcher adds to the options: the commands that the edge runs, and the environment of the
/// server.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct LaunchSettings {
    /// The command that starts a mold.
    pub mold_command: Vec<String>,
    /// The command that reads the configuration anew, and prints the resulting settings.
    pub reader_command: Vec<String>,
    /// The command that starts a new server, with the configuration, the Ruby, and the Carat that are installed when it
    /// runs.
    pub upgrade_command: Vec<String>,
    /// The variables that the mold gets in addition to the edge's environment.
    pub mold_environment: BTreeMap<String, String>,
    /// The options that only a start applies and that the edge does not read, for `reader_command` to compare.
    pub start_options: IgnoredAny,
    /// The name of a control socket, with `PID` for the process id of its server.
    pub control_socket_name: String,
    /// The directories where a control socket may be, the best first.
    pub control_directories: Vec<PathBuf>,
    /// Whether the server was started with SIGHUP ignored, as `nohup` does.
    pub ignores_hangup: bool,
}
