use std::cell::RefCell;
use std::fs::File;
use std::rc::Rc;

use http::HeaderValue;
use tokio::task::{JoinHandle, spawn, spawn_local};

use crate::part::disk_lookups::DiskLookups;
use crate::{Access, FileContent, LookupError, Mounts, UrlMount};
use carat_exchange::{FileRange, Refusal, ReplyBody, ReplyContent, clock};
use carat_files::{LOOKUP_THREADS, in_time};
use carat_http::{ArrivedRequest, PartStep, RequestAnswer, RequestContext};
use carat_log::Log;
use carat_settings::{Settings, StaticDirectory, UrlPrefix};

/// The directories of the `static` option.
pub(super) struct StaticFiles {
    mounts: RefCell<Mounts>,
    disk: Rc<DiskLookups>,
    /// The task that reads the names in the directories again.
    refresh: RefCell<Option<JoinHandle<()>>>,
    log: Rc<Log>,
}

impl StaticFiles {
    /// Opens the directories. An error names the directory that cannot be read.
    pub(super) fn open(
        settings: &Settings,
        disk: &Rc<DiskLookups>,
        log: &Rc<Log>,
    ) -> Result<Rc<StaticFiles>, String> {
        let (prefix, directories) = (
            prefix_of(settings).to_owned(),
            settings.parts.site.static_files.clone(),
        );
        Ok(Rc::new(StaticFiles {
            mounts: RefCell::new(in_time(move || open_all("static", &prefix, &directories))?),
            disk: Rc::clone(disk),
            refresh: RefCell::default(),
            log: Rc::clone(log),
        }))
    }

    /// Looks for the file that a request asks for: at first only in what the kernel has cached. If
    /// that does not tell, the returned future asks the disk.
    pub(super) fn look(&self, request: &mut ArrivedRequest, context: &RequestContext) -> PartStep {
        let Some(query) = self.mounts.borrow().query(&request.call().parts) else {
            return PartStep::Next;
        };
        let dispatch = &context.dispatch;
        match query.run(Access::Cached) {
            Ok(Some(found)) => PartStep::found(dispatch.own_reply(found.map(body))),
            Ok(None) => PartStep::Next,
            Err(LookupError::WouldBlock) => {
                let (disk, dispatch) = (Rc::clone(&self.disk), Rc::clone(dispatch));
                PartStep::Wait(Box::pin(async move {
                    let found = disk.ask(move || query.run(Access::Any)).await?;
                    Ok(found.map(|found| dispatch.own_reply(found.map(body))))
                }))
            }
            Err(LookupError::Io(_)) => {
                PartStep::Answer(RequestAnswer::Now(Err(Refusal::FileNotOpened)))
            }
        }
    }

    /// Looks for new and removed files, and forgets the content of files that no request asks for.
    /// Called once a tick.
    pub(super) fn tick(&self) {
        let mounts = self.mounts.borrow();
        mounts.tick(clock::now());
        let mut refresh = self.refresh.borrow_mut();
        // At most one thread reads. Otherwise, a disk that does not respond would take another
        // thread each second.
        if refresh.as_ref().is_none_or(JoinHandle::is_finished) && mounts.is_stale() {
            let mounts = mounts.clone();
            let reading = LOOKUP_THREADS.run(move || mounts.refresh());
            // A panic is logged, and a later tick reads again.
            *refresh = Some(spawn(async { drop(reading.await) }));
        }
    }

    /// Opens the directories of new settings. The same paths may lead to other directories now. If
    /// a directory cannot be opened, the old ones stay.
    pub(super) fn adopt(self: &Rc<Self>, settings: &Settings) {
        let (files, directories) = (Rc::clone(self), settings.parts.site.static_files.clone());
        let prefix = prefix_of(settings).to_owned();
        if directories.is_empty() {
            drop(files.mounts.take());
            return;
        }
        spawn_local(async move {
            let opening = LOOKUP_THREADS.run(move || open_all("static", &prefix, &directories));
            match opening.await.unwrap_or_else(|panic| Err(panic.to_string())) {
                Ok(mounts) => drop(files.mounts.replace(mounts)),
                Err(cause) => files
                    .log
                    .error("static: the old directories stay", &[("cause", &cause)]),
            }
        });
    }
}

/// The prefix of the application, below which static files are, too: the application uses it in
/// their URLs.
fn prefix_of(settings: &Settings) -> &str {
    settings.prefix.as_ref().map_or("", UrlPrefix::as_str)
}

/// Opens the directories of the option called `option` for URLs below `prefix`. An error names the
/// directory that cannot be read.
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

/// A whole file, of which a client may request ranges.
pub(super) fn whole(file: File, length: u64) -> ReplyBody {
    let mut range = FileRange::new(file, 0, length);
    range.allows_ranges = true;
    ReplyContent::File(range).into()
}
