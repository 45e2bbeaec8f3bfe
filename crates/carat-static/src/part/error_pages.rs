use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::task::spawn_local;

use crate::part::maintenance::{MAINTAINED, Maintenance, read_page};
use carat_exchange::{Refusal, Reply, ReplyBody, accepts_html};
use carat_files::{CONFIGURATION_THREADS, in_time};
use carat_log::{Field, Log};
use carat_settings::Settings;

/// The statuses that the server itself responds with, and that may have a page.
const STATUSES: [u16; 15] = [
    400, 404, 408, 413, 414, 415, 429, 431, 500, 501, 502, 503, 504, 505, 507,
];

/// Pages for browsers in place of the server's own sentences: the options `error_pages` and `maintenance`.
#[derive(Debug)]
pub(super) struct ErrorPages {
    directory: RefCell<Option<PathBuf>>,
    pages: RefCell<HashMap<StatusCode, Bytes>>,
    /// Whether the pages may have changed since they were read.
    is_stale: Cell<bool>,
    is_reading: Cell<bool>,
    pub(super) maintenance: Rc<Maintenance>,
    log: Rc<Log>,
}

impl ErrorPages {
    /// Reads the pages. An error names the page that cannot be read.
    pub(super) fn open(settings: &Settings, log: &Rc<Log>) -> Result<Rc<ErrorPages>, String> {
        let directory = settings.parts.site.error_pages.clone();
        let read = directory.clone();
        Ok(Rc::new(ErrorPages {
            pages: RefCell::new(in_time(move || read_all(read.as_deref()))?),
            is_stale: Cell::default(),
            is_reading: Cell::default(),
            directory: RefCell::new(directory),
            maintenance: Maintenance::new(settings, log),
            log: Rc::clone(log),
        }))
    }

    /// Reads the pages of new settings.
    pub(super) fn adopt(self: &Rc<Self>, settings: &Settings) {
        self.directory
            .replace(settings.parts.site.error_pages.clone());
        self.maintenance.adopt(settings);
        self.reload();
    }

    /// Reads the pages again. If that fails, the old ones stay. At most one thread reads, also on a
    /// disk that does not respond.
    pub(super) fn reload(self: &Rc<Self>) {
        self.is_stale.set(true);
        if !self.is_reading.replace(true) {
            spawn_local(Rc::clone(self).refresh());
        }
    }

    async fn refresh(self: Rc<Self>) {
        while self.is_stale.take() {
            let directory = self.directory.borrow().clone();
            let reading = CONFIGURATION_THREADS.run(move || read_all(directory.as_deref()));
            match reading.await.unwrap_or_else(|panic| Err(panic.to_string())) {
                Ok(read) => drop(self.pages.replace(read)),
                Err(cause) => {
                    let cause: [Field<'_>; 1] = [("cause", &cause)];
                    self.log.error("the old error pages stay", &cause);
                }
            }
        }
        self.is_reading.set(false);
    }

    /// Puts a page into the response if the application has failed, and there is a page for the
    /// status.
    pub(super) fn explain_failure(&self, reply: &mut Result<Reply, Refusal>) {
        if let Ok(reply) = reply {
            if reply.response.body().is_failure {
                self.dress(None, &mut reply.response);
            }
        }
    }

    /// Whether the client of a request gets pages: there are some, and the client accepts HTML.
    pub(super) fn are_for(&self, request: &HeaderMap) -> bool {
        let is_empty = self.pages.borrow().is_empty() && !self.maintenance.is_on();
        !is_empty && accepts_html(request)
    }

    /// Puts a page into a response of the server, if there is one for the status.
    pub(super) fn dress(&self, refusal: Option<Refusal>, response: &mut Response<ReplyBody>) {
        let maintained = (refusal == Some(MAINTAINED)).then(|| self.maintenance.page());
        let page = maintained.flatten();
        let page = page.or_else(|| self.pages.borrow().get(&response.status()).cloned());
        let Some(page) = page else { return };
        *response.body_mut() = ReplyBody::full(page);
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

fn read_all(directory: Option<&Path>) -> Result<HashMap<StatusCode, Bytes>, String> {
    let mut pages = HashMap::new();
    let Some(directory) = directory else {
        return Ok(pages);
    };
    for status in STATUSES {
        let path = directory.join(format!("{status}.html"));
        let read = read_page(&path);
        let page = read.map_err(|error| format!("error_pages: {}: {error}", path.display()))?;
        if let (Some(page), Ok(status)) = (page, StatusCode::from_u16(status)) {
            pages.insert(status, page);
        }
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::part::maintenance::PAGE_LIMIT;

    fn directory() -> TempDir {
        tempfile::tempdir().expect("a directory")
    }

    fn pages(directory: &TempDir) -> Result<Rc<ErrorPages>, String> {
        let mut settings = Settings::plain();
        settings.parts.site.error_pages = Some(directory.path().to_path_buf());
        let log = Log::open(&settings).expect("a log");
        ErrorPages::open(&settings, &Rc::new(log))
    }

    fn dressed(pages: &ErrorPages, refusal: Refusal) -> Response<ReplyBody> {
        let mut response = refusal.into_response();
        pages.dress(Some(refusal), &mut response);
        response
    }

    #[test]
    fn a_status_with_a_page_gets_it_and_others_keep_their_sentence() {
        let directory = directory();
        fs::write(directory.path().join("503.html"), "<p>soon").expect("written");
        fs::write(directory.path().join("404.txt"), "no").expect("written");
        let pages = pages(&directory).expect("readable");
        let headers = |response: &Response<ReplyBody>| {
            ["content-type", "cache-control", "retry-after"].map(|name| {
                let value = response.headers().get(name);
                value
                    .map_or("", |value| value.to_str().expect("text"))
                    .to_owned()
            })
        };
        let page = dressed(&pages, Refusal::QueueFull);
        assert_eq!(
            headers(&page),
            ["text/html; charset=utf-8", "no-store", "1"]
        );
        assert_eq!(page.body().length(), Some(7));
        let sentence = dressed(&pages, Refusal::WorkerLost);
        assert_eq!(headers(&sentence), ["text/plain", "", ""]);
    }

    #[test]
    fn a_page_that_is_too_large_or_no_file_is_an_error_with_its_name() {
        let directory = directory();
        let path = directory.path().join("500.html");
        let limit = usize::try_from(PAGE_LIMIT).expect("small");
        fs::write(&path, vec![b'x'; limit]).expect("written");
        assert!(pages(&directory).is_ok());
        fs::write(&path, vec![b'x'; limit + 1]).expect("written");
        let error = pages(&directory).expect_err("too large");
        assert!(
            error.ends_with("500.html: it is larger than 256 KiB"),
            "{error}"
        );
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("made");
        assert!(pages(&directory).is_err());
    }
}
