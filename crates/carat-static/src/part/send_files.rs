use std::cell::RefCell;
use std::fs::File;
use std::mem::replace;
use std::rc::Rc;

use http::header::CONTENT_LENGTH;
use http::{HeaderName, HeaderValue, StatusCode};
use tokio::task::spawn_local;

use crate::part::disk_lookups::DiskLookups;
use crate::part::static_files::{open_all, whole};
use crate::{Access, LookupError, Mounts, NamedFile};
use carat_exchange::{Refusal, Reply, ReplyBody};
use carat_files::{LOOKUP_THREADS, in_time};
use carat_http::{ReplyStep, SlowReply};
use carat_log::Log;
use carat_settings::Settings;

/// The header field that names a file by its absolute path, as with Apache and lighttpd.
const X_SENDFILE: HeaderName = HeaderName::from_static("x-sendfile");

/// The header field that names a file by a URL, as with nginx.
const X_ACCEL_REDIRECT: HeaderName = HeaderName::from_static("x-accel-redirect");

/// The directories of the `sendfile` option, from which the application may name files.
pub(super) struct SendFiles {
    mounts: RefCell<Mounts>,
    disk: Rc<DiskLookups>,
    log: Rc<Log>,
}

/// A file that a response names.
struct Named {
    /// The value of the header field that names the file.
    value: HeaderValue,
    /// `None` when the file is in none of the directories.
    file: Option<NamedFile>,
    disk: Rc<DiskLookups>,
    log: Rc<Log>,
}

impl SendFiles {
    /// Opens the directories. An error names the directory that cannot be read.
    pub(super) fn open(
        settings: &Settings,
        disk: &Rc<DiskLookups>,
        log: &Rc<Log>,
    ) -> Result<Rc<SendFiles>, String> {
        let directories = settings.parts.site.sendfile.clone();
        Ok(Rc::new(SendFiles {
            mounts: RefCell::new(in_time(move || open_all("sendfile", "", &directories))?),
            disk: Rc::clone(disk),
            log: Rc::clone(log),
        }))
    }

    /// Opens the directories of new settings. The same paths may lead to other directories now. If
    /// a directory cannot be opened, the old ones stay.
    pub(super) fn adopt(self: &Rc<Self>, settings: &Settings) {
        let (files, directories) = (Rc::clone(self), settings.parts.site.sendfile.clone());
        spawn_local(async move {
            let opening = LOOKUP_THREADS.run(move || open_all("sendfile", "", &directories));
            match opening.await.unwrap_or_else(|panic| Err(panic.to_string())) {
                Ok(mounts) => drop(files.mounts.replace(mounts)),
                Err(cause) => files
                    .log
                    .error("sendfile: the old directories stay", &[("cause", &cause)]),
            }
        });
    }

    /// Replaces the body of a reply that names a file.
    pub(super) fn replace<'a>(
        &self,
        reply: &'a mut Result<Reply, Refusal>,
    ) -> Option<SlowReply<'a>> {
        let named = self.take(reply)?;
        Some(Box::pin(async move {
            let own = replace(reply, Err(Refusal::FileNotOpened));
            *reply = named.send(own).await;
            ReplyStep::Next
        }))
    }

    /// Takes the header field that names a file out of a response; `None` without one.
    fn take(&self, reply: &mut Result<Reply, Refusal>) -> Option<Named> {
        let mounts = self.mounts.borrow();
        if mounts.is_empty() {
            return None;
        }
        let headers = reply.as_mut().ok()?.response.headers_mut();
        let (path, url) = (headers.remove(X_SENDFILE), headers.remove(X_ACCEL_REDIRECT));
        let file = match (&path, &url) {
            (Some(path), _) => mounts.at_path(path.as_bytes()),
            (None, Some(url)) => url.to_str().ok().and_then(|url| mounts.at_url(url)),
            (None, None) => None,
        };
        path.or(url).map(|value| Named {
            value,
            file,
            disk: Rc::clone(&self.disk),
            log: Rc::clone(&self.log),
        })
    }
}

impl Named {
    /// Sends the file in place of the application's body.
    async fn send(self, reply: Result<Reply, Refusal>) -> Result<Reply, Refusal> {
        let mut reply = reply?;
        let found = match self.file {
            Some(file) => open(file, &self.disk).await?,
            None => None,
        };
        if let Some((file, length)) = found {
            *reply.response.body_mut() = whole(file, length);
            let headers = reply.response.headers_mut();
            headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        } else {
            let name = String::from_utf8_lossy(self.value.as_bytes()).into_owned();
            self.log.warn(
                "no such file in the directories of sendfile",
                &[("file", &name)],
            );
            *reply.response.body_mut() = ReplyBody::empty();
            *reply.response.status_mut() = StatusCode::NOT_FOUND;
            reply.response.headers_mut().clear();
        }
        Ok(reply)
    }
}

async fn open(file: NamedFile, disk: &DiskLookups) -> Result<Option<(File, u64)>, Refusal> {
    match file.open(Access::Cached) {
        Err(LookupError::WouldBlock) => disk.ask(move || file.open(Access::Any)).await,
        found => found.map_err(|_| Refusal::FileNotOpened),
    }
}
