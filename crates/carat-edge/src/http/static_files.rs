use std::cell::RefCell;
use std::fs::File;
use std::rc::Rc;

use carat_static::{Access, FileContent, FileQuery, LookupError, Mounts, UrlMount};
use http::{HeaderValue, Request, Response};
use tokio::task::{JoinHandle, spawn_blocking, spawn_local};

use super::disk_lookups::DiskLookups;
use crate::clock;
use crate::exchange::{FileRange, Refusal, ReplyBody, ReplyContent};
use crate::log::Log;
use crate::settings::{Settings, StaticDirectory};
use crate::url_prefix::UrlPrefix;

/// The directories of the `static` option.
#[derive(Debug)]
pub(crate) struct StaticFiles {
    mounts: RefCell<Mounts>,
    /// Reads the names in the directories again.
    refresh: RefCell<Option<JoinHandle<()>>>,
    log: Rc<Log>,
}

/// What a first look, which waits for nothing, has found.
pub(super) enum FirstLook {
    Found(Response<ReplyBody>),
    /// The request is one for the application.
    Missing,
    /// The disk has to be asked.
    Unknown(FileQuery),
    Refused(Refusal),
}

impl StaticFiles {
    /// Opens the directories. An error names the one that cannot be read.
    pub(crate) fn open(settings: &Settings, log: &Rc<Log>) -> Result<Rc<StaticFiles>, String> {
        Ok(Rc::new(StaticFiles {
            mounts: RefCell::new(open_all(
                "static",
                prefix_of(settings),
                &settings.static_files,
            )?),
            refresh: RefCell::default(),
            log: Rc::clone(log),
        }))
    }

    /// Looks for the file that a request asks for.
    pub(super) fn look<B>(&self, request: &Request<B>) -> FirstLook {
        let Some(query) = self.mounts.borrow().query(request) else {
            return FirstLook::Missing;
        };
        match query.run(Access::Cached) {
            Ok(Some(found)) => FirstLook::Found(found.map(body)),
            Ok(None) => FirstLook::Missing,
            Err(LookupError::WouldBlock) => FirstLook::Unknown(query),
            Err(LookupError::Io(_)) => FirstLook::Refused(Refusal::FileNotOpened),
        }
    }

    /// Notices new and removed files, and forgets those that nobody asks for. Called once a tick.
    pub(super) fn tick(&self) {
        let mounts = self.mounts.borrow();
        mounts.tick(clock::now());
        let mut refresh = self.refresh.borrow_mut();
        // A disk that does not respond holds one thread, and not one more each second.
        if refresh.as_ref().is_none_or(JoinHandle::is_finished) && mounts.is_stale() {
            let mounts = mounts.clone();
            *refresh = Some(spawn_blocking(move || mounts.refresh()));
        }
    }

    /// Opens the directories of new settings, or those that the same paths name now. If that fails, the old ones stay.
    pub(crate) fn adopt(self: &Rc<Self>, settings: &Settings) {
        let (files, directories) = (Rc::clone(self), settings.static_files.clone());
        let prefix = prefix_of(settings).to_owned();
        if directories.is_empty() {
            drop(files.mounts.take());
            return;
        }
        spawn_local(async move {
            let opening = spawn_blocking(move || open_all("static", &prefix, &directories));
            match opening.await.unwrap_or_else(|panic| Err(panic.to_string())) {
                Ok(mounts) => drop(files.mounts.replace(mounts)),
                Err(cause) => files.log.error(
                    "static files come from the old directories",
                    &[("cause", &cause)],
                ),
            }
        });
    }
}

/// The response once the disk has been asked; `None` when the request is one for the application.
pub(super) async fn look_again(
    query: FileQuery,
    disk: &DiskLookups,
) -> Result<Option<Response<ReplyBody>>, Refusal> {
    let found = disk.ask(move || query.run(Access::Any)).await?;
    Ok(found.map(|response| response.map(body)))
}

/// Static files are below the prefix of the application, which names them so.
fn prefix_of(settings: &Settings) -> &str {
    settings.prefix.as_ref().map_or("", UrlPrefix::as_str)
}

/// Opens the directories of the option called `option` for URLs below `prefix`. An error names the one that cannot be read.
pub(super) fn open_all(
    option: &str,
    prefix: &str,
    directories: &[StaticDirectory],
) -> Result<Mounts, String> {
    let mounts = directories.iter().map(|it| open(option, prefix, it));
    let mounts: Result<Vec<UrlMount>, String> = mounts.collect();
    mounts.map(Mounts::new)
}

fn open(option: &str, prefix: &str, declared: &StaticDirectory) -> Result<UrlMount, String> {
    let explain = |error| format!("{option}: {}: {error}", declared.directory.display());
    let prefix = format!("{prefix}{}", declared.prefix);
    let mut mount = UrlMount::open(&prefix, &declared.directory).map_err(explain)?;
    if let Some(value) = &declared.cache_control {
        let value = HeaderValue::try_from(value);
        let value =
            value.map_err(|_| format!("{option}: cache_control: {:?}", declared.cache_control))?;
        mount = mount.with_cache_control(value);
    }
    if let Some(page) = &declared.not_found {
        mount = mount.with_not_found(page.clone());
    }
    Ok(mount)
}

fn body(content: FileContent) -> ReplyBody {
    match content {
        FileContent::Empty => ReplyBody::empty(),
        FileContent::Bytes(bytes) => ReplyBody::full(bytes),
        FileContent::File(file, length) => whole(file, length),
    }
}

/// All of a file, of which a client may request ranges.
pub(super) fn whole(file: File, length: u64) -> ReplyBody {
    let mut range = FileRange::new(file, 0, length);
    range.allows_ranges = true;
    ReplyContent::File(range).into()
}
