use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::header::{AGE, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::freshness::Freshness;

/// Bytes of memory that an entry takes in addition to its header fields and bodies.
const ENTRY_OVERHEAD: usize = 768;
/// Bytes of memory that a header field takes in addition to its name and value.
const FIELD_OVERHEAD: usize = 160;

/// Header fields that are not stored, because they belong to one message or one hop (RFC 9111,
/// section 3.1). `Content-Length` is made anew from the stored body.
const UNSTORED_FIELDS: [HeaderName; 7] = [
    AGE,
    CONNECTION,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// A stored response.
#[derive(Debug)]
pub struct StoredResponse {
    pub(crate) url: Rc<[u8]>,
    /// The status of the response.
    pub status: StatusCode,
    /// The header fields of the response, without those of the connection.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// How long the response may be served.
    pub freshness: Freshness,
    /// The body in the content codings that clients wanted.
    forms: RefCell<Vec<(&'static str, EncodedForm)>>,
    is_refreshing: Cell<bool>,
}

#[derive(Debug, Clone)]
enum EncodedForm {
    /// A request is making the form.
    Begun,
    Made(Bytes),
}

/// Marks an entry whose response is being fetched anew. Another fetch may begin when the mark is
/// dropped.
pub struct Refreshing(Rc<StoredResponse>);

impl StoredResponse {
    pub(crate) fn new(
        url: Rc<[u8]>,
        status: StatusCode,
        headers: &HeaderMap,
        body: Bytes,
        freshness: Freshness,
    ) -> StoredResponse {
        StoredResponse {
            url,
            status,
            headers: stored_headers(headers),
            body,
            freshness,
            forms: RefCell::default(),
            is_refreshing: Cell::new(false),
        }
    }

    /// The entry after the application has confirmed its response.
    #[must_use]
    pub fn confirmed(&self, headers: &HeaderMap, freshness: Freshness) -> StoredResponse {
        let mut entry = StoredResponse::new(
            Rc::clone(&self.url),
            self.status,
            headers,
            self.body.clone(),
            freshness,
        );
        let made = |form: &&(_, EncodedForm)| matches!(form.1, EncodedForm::Made(_));
        let forms = self.forms.borrow().iter().filter(made).cloned().collect();
        entry.forms = RefCell::new(forms);
        entry
    }

    /// The body in a content coding, if it is kept.
    pub fn form(&self, coding: &'static str) -> Option<Bytes> {
        let forms = self.forms.borrow();
        forms.iter().find_map(|form| match form {
            (name, EncodedForm::Made(bytes)) if *name == coding => Some(bytes.clone()),
            _ => None,
        })
    }

    /// Whether the caller is to make the body in a content coding. False when the form exists, or
    /// when another request is making it.
    #[must_use]
    pub fn begin_form(&self, coding: &'static str) -> bool {
        let mut forms = self.forms.borrow_mut();
        let is_new = forms.iter().all(|(name, _)| *name != coding);
        if is_new {
            forms.push((coding, EncodedForm::Begun));
        }
        is_new
    }

    /// Keeps the form that `begin_form` has begun. `None` if it could not be made: then another
    /// request may try.
    pub(crate) fn end_form(&self, coding: &'static str, made: Option<Bytes>) {
        let mut forms = self.forms.borrow_mut();
        forms.retain(|(name, _)| *name != coding);
        forms.extend(made.map(|bytes| (coding, EncodedForm::Made(bytes))));
    }

    /// Begins to fetch the response anew; `None` while another request does.
    #[must_use]
    pub fn begin_refresh(self: &Rc<Self>) -> Option<Refreshing> {
        let is_first = !self.is_refreshing.replace(true);
        is_first.then(|| Refreshing(Rc::clone(self)))
    }

    /// Bytes of memory that the entry takes in addition to its bodies.
    pub(crate) fn head_bytes(&self) -> usize {
        ENTRY_OVERHEAD + fields_bytes(&self.headers)
    }

    /// Bytes of the body in all its forms.
    pub(crate) fn body_bytes(&self) -> usize {
        let forms = self.forms.borrow();
        let forms = forms.iter().map(|(_, form)| match form {
            EncodedForm::Begun => 0,
            EncodedForm::Made(bytes) => bytes.len(),
        });
        self.body.len() + forms.sum::<usize>()
    }
}

impl Drop for Refreshing {
    fn drop(&mut self) {
        self.0.is_refreshing.set(false);
    }
}

/// Bytes of memory that header fields take.
pub(crate) fn fields_bytes(headers: &HeaderMap) -> usize {
    let fields = headers.iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + FIELD_OVERHEAD);
    fields.sum()
}

/// The header fields to store, with copies of their values. The original values are slices of what
/// the worker has sent, and would keep all of it in memory.
fn stored_headers(headers: &HeaderMap) -> HeaderMap {
    let options: Vec<&[u8]> = headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .collect();
    let is_of_hop = |name: &HeaderName| {
        let mut options = options.iter();
        options.any(|option| option.eq_ignore_ascii_case(name.as_str().as_bytes()))
    };
    let mut stored = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if !UNSTORED_FIELDS.contains(name) && !is_of_hop(name) {
            let own = HeaderValue::from_bytes(value.as_bytes());
            stored.append(name, own.expect("it was a value before"));
        }
    }
    stored
}

/// A body in memory. Its bytes count in `live` until the last reference to them is dropped, also
/// after the entry is gone.
pub(crate) struct CountedBody {
    bytes: Box<[u8]>,
    live: Arc<AtomicUsize>,
}

impl CountedBody {
    pub(crate) fn of(bytes: &[u8], live: &Arc<AtomicUsize>) -> Bytes {
        live.fetch_add(bytes.len(), Ordering::Relaxed);
        Bytes::from_owner(CountedBody {
            bytes: bytes.into(),
            live: Arc::clone(live),
        })
    }
}

impl AsRef<[u8]> for CountedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        self.live.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::directives::ResponseDirectives;

    pub(crate) fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    pub(crate) fn entry(
        lines: &[(&'static str, &'static str)],
        body: &'static str,
    ) -> Rc<StoredResponse> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let hour = Duration::from_secs(3600);
        let freshness = Freshness::new(
            &ResponseDirectives::default(),
            hour,
            Duration::ZERO,
            Instant::now(),
        );
        let body = Bytes::from_static(body.as_bytes());
        Rc::new(StoredResponse::new(
            Rc::from(&b"/"[..]),
            StatusCode::OK,
            &headers,
            body,
            freshness,
        ))
    }

    #[test]
    fn fields_of_the_hop_are_not_stored() {
        let lines = [
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("keep-alive", "1"),
            ("age", "3"),
            ("content-length", "4"),
            ("etag", "\"x\""),
        ];
        let page = entry(&lines, "page");
        let names: Vec<&str> = page.headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["etag"]);
    }

    #[test]
    fn a_coding_is_made_once_and_again_when_that_failed() {
        let page = entry(&[], "page");
        assert!(page.begin_form("gzip") && !page.begin_form("gzip") && page.begin_form("br"));
        assert_eq!(page.form("gzip"), None);
        page.end_form("gzip", None);
        assert!(page.begin_form("gzip"));
        page.end_form("gzip", Some(Bytes::from_static(b"small")));
        assert_eq!(page.form("gzip"), Some(Bytes::from_static(b"small")));
        assert!(!page.begin_form("gzip"));
        assert_eq!(page.body_bytes(), 9);
    }

    #[test]
    fn one_refresh_runs_at_a_time() {
        let page = entry(&[], "page");
        let first = page.begin_refresh();
        assert!(first.is_some() && page.begin_refresh().is_none());
        drop(first);
        assert!(page.begin_refresh().is_some());
    }

    #[test]
    fn a_body_counts_until_nobody_has_it() {
        let live = Arc::new(AtomicUsize::new(0));
        let body = CountedBody::of(b"12345", &live);
        let part = body.slice(1..2);
        drop(body);
        assert_eq!(live.load(Ordering::Relaxed), 5);
        drop(part);
        assert_eq!(live.load(Ordering::Relaxed), 0);
    }
}
