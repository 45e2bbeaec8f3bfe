use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::rc::Rc;

use rustix::io::FdFlags;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use carat_settings::{Settings, UPGRADE_VARIABLE};

/// The variable that names the descriptor to which the command writes the settings.
const OUTPUT_VARIABLE: &str = "CARAT_SETTINGS_FD";

/// The most bytes that are read; settings are much shorter.
const SETTINGS_LIMIT: u64 = 1024 * 1024;

/// The output of the command that reads the configuration.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Output {
    Settings {
        settings: Box<Settings>,
        /// The options that have changed and take effect only at an upgrade or the next start.
        unchanged: Vec<String>,
    },
    Error(String),
}

/// Settings that were read while the server runs.
#[derive(Debug)]
pub(crate) struct FreshSettings {
    pub(crate) settings: Box<Settings>,
    pub(crate) unchanged: Vec<String>,
}

/// Reads the configuration as it is now, in a Ruby process, within `boot_timeout`.
pub(crate) async fn read_settings(current: Rc<Settings>) -> Result<FreshSettings, String> {
    let reading = start(&current).map_err(|error| format!("cannot read the settings: {error}"))?;
    let limit = current.boot_timeout;
    let output = timeout(limit, reading.output())
        .await
        .map_err(|_| format!("the configuration was not read within {limit:?} (boot_timeout)"))?;
    let json = output.map_err(|error| format!("cannot read the settings: {error}"))?;
    match serde_json::from_slice(&json) {
        Ok(Output::Settings {
            settings,
            unchanged,
        }) => Ok(FreshSettings {
            settings,
            unchanged,
        }),
        Ok(Output::Error(cause)) => Err(cause),
        Err(_) if json.is_empty() => {
            Err("the configuration cannot be read: the log says why".to_owned())
        }
        Err(error) => Err(format!("the settings are not valid: {error}")),
    }
}

fn start(settings: &Settings) -> io::Result<SettingsProcess> {
    let (near, far) = UnixStream::pair()?;
    let (program, arguments) = settings
        .launch
        .reader_command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "reader_command is empty"))?;
    rustix::io::fcntl_setfd(&far, FdFlags::empty())?;
    let child = Command::new(program)
        .args(arguments)
        .current_dir(&settings.directory)
        .env("PWD", &settings.directory)
        .env_remove(UPGRADE_VARIABLE)
        .env(OUTPUT_VARIABLE, far.as_raw_fd().to_string())
        .spawn()?;
    drop(far);
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the process id is out of range"))?;
    near.set_nonblocking(true)?;
    Ok(SettingsProcess {
        pidfd: pidfd_open(pid, PidfdFlags::empty())?,
        output: tokio::net::UnixStream::from_std(near)?,
    })
}

/// The process that reads the configuration. Dropping this value kills it.
struct SettingsProcess {
    pidfd: OwnedFd,
    output: tokio::net::UnixStream,
}

impl SettingsProcess {
    async fn output(mut self) -> io::Result<Vec<u8>> {
        let mut json = Vec::new();
        let mut output = (&mut self.output).take(SETTINGS_LIMIT);
        output.read_to_end(&mut json).await?;
        Ok(json)
    }
}

impl Drop for SettingsProcess {
    fn drop(&mut self) {
        // The process has already ended unless the reading was given up.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}
