use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use http::StatusCode;
use tokio::task::spawn_local;

use carat_exchange::{Fault, PartRefusal, Refusal};
use carat_files::{CONFIGURATION_THREADS, in_time, read_configured};
use carat_http::{ArrivedRequest, ReadinessPaths, RequestContext, RequestStep};
use carat_log::{Field, Log};
use carat_settings::Settings;

/// The most bytes of a page, which stays in memory.
pub(super) const PAGE_LIMIT: u64 = 256 * 1024;

/// The refusal of requests as long as the file of the option `maintenance` exists.
pub(super) const MAINTAINED: Refusal = Refusal::ByPart(&PartRefusal {
    status: StatusCode::SERVICE_UNAVAILABLE,
    reason: "the application is under maintenance",
    fault: Fault::Server,
    retry_after: Some(60),
});

/// The page that all clients get as long as its file exists: the option `maintenance`.
#[derive(Debug)]
pub(super) struct Maintenance {
    path: RefCell<Option<PathBuf>>,
    /// The paths of load balancers' checks. If they failed, the balancers would send no clients,
    /// and nobody would see the page.
    exempt: ReadinessPaths,
    /// `None` while the application serves; empty when the page cannot be read.
    page: RefCell<Option<Bytes>>,
    is_looking: Cell<bool>,
    log: Rc<Log>,
}

impl Maintenance {
    /// Looks for the file at once, so that not even the first request reaches the application.
    pub(super) fn new(settings: &Settings, log: &Rc<Log>) -> Rc<Maintenance> {
        let path = path_of(settings);
        let looked = path.clone();
        let read = in_time(move || {
            let read = looked.as_deref().map_or(Ok(None), read_page);
            read.map_err(|error| error.to_string())
        });
        let maintenance = Rc::new(Maintenance {
            path: RefCell::new(path),
            exempt: ReadinessPaths::of(settings),
            page: RefCell::default(),
            is_looking: Cell::default(),
            log: Rc::clone(log),
        });
        maintenance.found(read.map_err(io::Error::other));
        maintenance
    }

    /// Looks for the file of new settings from now on.
    pub(super) fn adopt(&self, settings: &Settings) {
        let path = path_of(settings);
        if path.is_none() {
            self.found(Ok(None));
        }
        self.path.replace(path);
    }

    /// Refuses a request during maintenance.
    pub(super) fn check(
        &self,
        request: &mut ArrivedRequest,
        context: &RequestContext,
    ) -> RequestStep {
        let keeps_out = self.is_on() && !self.exempt.contains(request.path());
        context.refuse_if(keeps_out, MAINTAINED)
    }

    /// Whether the application is under maintenance.
    pub(super) fn is_on(&self) -> bool {
        self.page.borrow().is_some()
    }

    /// The page, unless it is empty.
    pub(super) fn page(&self) -> Option<Bytes> {
        let page = self.page.borrow();
        page.clone().filter(|page| !page.is_empty())
    }

    /// Looks whether the file has appeared, changed, or gone. Called once a tick. At most one
    /// thread looks: if the disk does not respond, nothing changes.
    pub(super) fn tick(self: &Rc<Self>) {
        let Some(path) = self.path.borrow().clone() else {
            return;
        };
        if self.is_looking.replace(true) {
            return;
        }
        let maintenance = Rc::clone(self);
        spawn_local(async move {
            let looking = {
                let path = path.clone();
                CONFIGURATION_THREADS
                    .try_run(move || read_page(&path))
                    .await
            };
            maintenance.is_looking.set(false);
            if maintenance.path.borrow().as_ref() == Some(&path) {
                maintenance.found(looking);
            }
        });
    }

    fn found(&self, read: io::Result<Option<Bytes>>) {
        let was_on = self.is_on();
        let page = read.unwrap_or_else(|error| {
            if !was_on {
                let cause: [Field<'_>; 1] = [("cause", &error)];
                self.log
                    .error("the maintenance page cannot be read", &cause);
            }
            Some(Bytes::new())
        });
        let is_on = page.is_some();
        self.page.replace(page);
        match (was_on, is_on) {
            (false, true) => self.log.info("maintenance begins", &[]),
            (true, false) => self.log.info("maintenance ends", &[]),
            _ => {}
        }
    }
}

/// The path of the page. A relative path begins in the directory in which the server was started.
/// Symbolic links in the path of that directory are followed anew at each look.
fn path_of(settings: &Settings) -> Option<PathBuf> {
    let path = settings.parts.site.maintenance.as_ref()?;
    Some(settings.directory.join(path))
}

/// The content of a page; `None` when there is none. An error when the file is too large, or no
/// regular file.
pub(super) fn read_page(path: &Path) -> io::Result<Option<Bytes>> {
    match read_configured(path, PAGE_LIMIT) {
        Ok(page) => Ok(Some(page.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
