use std::fs::metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use crate::supervise::messages::Mailbox;
use carat_files::CONFIGURATION_THREADS;
use carat_settings::Settings;
use carat_supervisor::{Event, RestartEvent};

/// How often the file is checked.
const LOOK: Duration = Duration::from_secs(1);

/// The device and inode of a file, and the time when the file was last touched.
type Touch = (u64, u64, i64, i64);

fn touch(path: &Path) -> Option<Touch> {
    let found = metadata(path).ok()?;
    Some((found.dev(), found.ino(), found.mtime(), found.mtime_nsec()))
}

/// The path of `restart_file`. A relative path begins in the directory of the start; symbolic links in it are followed
/// anew at each check.
pub(crate) fn restart_path(settings: &Settings) -> Option<PathBuf> {
    let path = settings.restart_file.as_ref()?;
    Some(Path::new(&settings.directory).join(path))
}

/// Requests a restart whenever the file has been created or touched. A file that exists at the start has no effect. A
/// disk that does not respond blocks one thread only. If there is a path, this returns only with an error.
pub(crate) async fn watch_restart_file(path: Option<PathBuf>, mailbox: Mailbox) -> io::Result<()> {
    let Some(path) = path else {
        return Ok(());
    };
    let mut last = look(&path).await?;
    loop {
        sleep(LOOK).await;
        let touch = look(&path).await?;
        if touch.is_some() && touch != last {
            mailbox.event(Event::Restart(RestartEvent::Requested));
        }
        last = touch;
    }
}

async fn look(path: &Path) -> io::Result<Option<Touch>> {
    let path = path.to_owned();
    Ok(CONFIGURATION_THREADS.run(move || touch(&path)).await?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_made_touched_or_replaced_is_another_touch() {
        let directory = std::env::temp_dir().join(format!("restart-file-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let path = directory.join("restart.txt");
        assert_eq!(touch(&path), None);
        fs::write(&path, "").expect("written");
        let made = touch(&path);
        assert!(made.is_some());
        assert_eq!(touch(&path), made);
        let file = fs::File::open(&path).expect("there");
        let later = std::time::SystemTime::now() + Duration::from_secs(5);
        file.set_modified(later).expect("touched");
        let touched = touch(&path);
        assert_ne!(touched, made);
        fs::write(directory.join("other"), "").expect("written");
        fs::rename(directory.join("other"), &path).expect("replaced");
        assert_ne!(touch(&path), touched);
        fs::remove_dir_all(&directory).expect("removed");
    }
}
