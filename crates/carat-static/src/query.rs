use std::sync::Arc;

use carat_coding::{AcceptedCodings, Coding};
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE,
    ETAG, LAST_MODIFIED, RANGE, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use rustix::fs::Stat;

use crate::disk::{Access, FoundFile, LookupError};
use crate::headers::{
    Conditions, FileContent, Validators, Verdict, is_compressible, is_fingerprinted, media_type,
};
use crate::mount::UrlMount;
use crate::url_path::UrlPath;

/// The Cache-Control of a file with a digest of its content in its name: a year, as long as caches
/// keep anything.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Where the file of a request may be.
pub(crate) struct FilePlace {
    pub(crate) mount: Arc<UrlMount>,
    /// The path below the mount.
    pub(crate) path: UrlPath,
}

/// A request for a file.
pub struct FileQuery {
    /// Where the file may be, the best place first.
    places: Vec<FilePlace>,
    is_head: bool,
    wants_range: bool,
    codings: AcceptedCodings,
    conditions: Conditions,
}

/// A file in the coding in which it is sent.
struct Variant {
    coding: Option<Coding>,
    file: FoundFile,
    stat: Stat,
}

impl FileQuery {
    /// The query of a request; `None` without a place.
    pub(crate) fn new(places: Vec<FilePlace>, request: &Parts) -> Option<FileQuery> {
        let codings = request.headers.get_all(ACCEPT_ENCODING);
        (!places.is_empty()).then(|| FileQuery {
            places,
            is_head: request.method == Method::HEAD,
            wants_range: request.headers.contains_key(RANGE),
            codings: AcceptedCodings::read(codings.iter().map(HeaderValue::as_bytes)),
            conditions: Conditions::of(&request.headers),
        })
    }

    /// Looks for the file, and returns the response, which may also say that the client has the
    /// file already. The call waits only as `access` allows. `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// The kernel has to wait for the disk, or cannot open the file now.
    pub fn run(&self, access: Access) -> Result<Option<Response<FileContent>>, LookupError> {
        for place in &self.places {
            let lookup = Lookup {
                query: self,
                mount: &place.mount,
                access,
            };
            let found = lookup.run(&place.path)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// The search for a file in one mount.
struct Lookup<'a> {
    query: &'a FileQuery,
    mount: &'a UrlMount,
    access: Access,
}

impl Lookup<'_> {
    fn run(&self, path: &UrlPath) -> Result<Option<Response<FileContent>>, LookupError> {
        let file = path.file().map(<[u8]>::to_vec);
        for name in [file, path.page(), Some(path.index())]
            .into_iter()
            .flatten()
        {
            if let Some((file, stat)) = self.open(&name)? {
                return self.respond(&name, file, stat).map(Some);
            }
        }
        self.not_found()
    }

    fn open(&self, name: &[u8]) -> Result<Option<(FoundFile, Stat)>, LookupError> {
        let directory = &self.mount.directory;
        if self.query.wants_range {
            let found = directory.file(name, self.access)?;
            return Ok(found.map(|(file, stat)| (FoundFile::Opened(file), stat)));
        }
        directory.content(name, self.access)
    }

    /// The content of the file with this name, or of its compressed variant, as it is sent.
    fn read(&self, name: &[u8], found: Variant) -> FileContent {
        let Variant { coding, file, stat } = found;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let file = match file {
            FoundFile::Known(content) => return FileContent::Bytes(content),
            FoundFile::Opened(file) if self.query.wants_range => {
                return FileContent::File(file, size);
            }
            FoundFile::Opened(file) => file,
        };
        let content = FileContent::of(file, size);
        if let FileContent::Bytes(content) = &content {
            let name = [name, coding.map_or(b"", extension)].concat();
            self.mount.directory.recent.keep(&name, &stat, content);
        }
        content
    }

    fn respond(
        &self,
        name: &[u8],
        file: FoundFile,
        stat: Stat,
    ) -> Result<Response<FileContent>, LookupError> {
        let media_type = media_type(name);
        let mut headers = HeaderMap::with_capacity(8);
        let mut found = Variant {
            coding: None,
            file,
            stat,
        };
        if is_compressible(&media_type) {
            headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
            found = self.compressed(name, found)?;
        }
        if let Some(coding) = found.coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
        headers.insert(CONTENT_TYPE, media_type);
        if is_fingerprinted(name) {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static(FOREVER));
        } else if let Some(value) = &self.mount.cache_control {
            headers.insert(CACHE_CONTROL, value.clone());
        }
        let version = Validators::of(&found.stat, found.coding);
        headers.insert(LAST_MODIFIED, version.last_modified());
        let verdict = self.query.conditions.judge(&version);
        headers.insert(ETAG, version.etag);
        Ok(self.finish(verdict, headers, name, found))
    }

    /// The best compressed variant that lies beside the file and is not older than it; the file
    /// itself without one.
    fn compressed(&self, name: &[u8], plain: Variant) -> Result<Variant, LookupError> {
        for coding in self.query.codings.iter() {
            let name = [name, extension(coding)].concat();
            let found = self.open(&name)?;
            if let Some((file, stat)) =
                found.filter(|(_, stat)| stat.st_mtime >= plain.stat.st_mtime)
            {
                return Ok(Variant {
                    coding: Some(coding),
                    file,
                    stat,
                });
            }
        }
        Ok(plain)
    }

    fn finish(
        &self,
        verdict: Verdict,
        headers: HeaderMap,
        name: &[u8],
        found: Variant,
    ) -> Response<FileContent> {
        let mut response = Response::new(FileContent::Empty);
        *response.headers_mut() = headers;
        match verdict {
            Verdict::Send => {
                let headers = response.headers_mut();
                let size = u64::try_from(found.stat.st_size).unwrap_or(0);
                headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
                headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
                if !self.query.is_head {
                    *response.body_mut() = self.read(name, found);
                }
            }
            Verdict::NotModified => {
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response.headers_mut().remove(CONTENT_TYPE);
            }
            Verdict::Failed => *response.status_mut() = StatusCode::PRECONDITION_FAILED,
        }
        response
    }

    fn not_found(&self) -> Result<Option<Response<FileContent>>, LookupError> {
        let Some(page) = &self.mount.not_found else {
            return Ok(None);
        };
        let mut response = match self.open(page.as_bytes())? {
            Some((file, stat)) => {
                let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type(page.as_bytes()))]);
                let found = Variant {
                    coding: None,
                    file,
                    stat,
                };
                self.finish(Verdict::Send, headers, page.as_bytes(), found)
            }
            None => Response::new(FileContent::Empty),
        };
        *response.status_mut() = StatusCode::NOT_FOUND;
        Ok(Some(response))
    }
}

/// The extension of a file that is compressed in this coding.
fn extension(coding: Coding) -> &'static [u8] {
    match coding {
        Coding::Zstd => b".zst",
        Coding::Brotli => b".br",
        Coding::Gzip => b".gz",
        Coding::Deflate => b".zz",
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes, write};
    use std::time::{Duration, SystemTime};

    use http::Request;
    use tempfile::TempDir;

    use super::*;
    use crate::mounts::Mounts;

    fn site(files: &[(&str, &str)]) -> TempDir {
        let site = tempfile::tempdir().expect("a directory");
        for (name, content) in files {
            let path = site.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            write(path, content).expect("written");
        }
        site
    }

    fn run(mounts: &Mounts, path: &str, fields: &[(&str, &str)]) -> Option<Response<FileContent>> {
        let mut request = Request::get(path);
        for &(name, value) in fields {
            request = request.header(name, value);
        }
        let (request, ()) = request.body(()).expect("a request").into_parts();
        let query = mounts.query(&request)?;
        query.run(Access::Any).expect("no error")
    }

    fn mount((prefix, site): (&str, &TempDir)) -> UrlMount {
        UrlMount::open(prefix, site.path()).expect("opened")
    }

    fn mounted(site: &TempDir) -> Mounts {
        Mounts::new(vec![mount(("/", site))])
    }

    fn has_text(mounts: &Mounts, path: &str, fields: &[(&str, &str)], expected: &str) {
        assert_eq!(text(run(mounts, path, fields)), expected, "{path}");
    }

    fn text(response: Option<Response<FileContent>>) -> String {
        match response.expect("a response").into_body() {
            FileContent::Bytes(bytes) => String::from_utf8(bytes.into()).expect("UTF-8"),
            FileContent::File(file, _) => std::io::read_to_string(file).expect("read"),
            FileContent::Empty => String::new(),
        }
    }

    #[test]
    fn a_file_is_found_by_its_name_as_a_page_and_as_an_index() {
        let site = site(&[
            ("a.html", "page"),
            ("b/index.html", "index"),
            ("index.html", "home"),
        ]);
        let mounts = mounted(&site);
        for (path, content) in [
            ("/a.html?x=/../y", "page"),
            ("/a", "page"),
            ("/b", "index"),
            ("/b/", "index"),
            ("/", "home"),
        ] {
            has_text(&mounts, path, &[], content);
        }
        assert!(run(&mounts, "/a/", &[]).is_none());
        assert!(run(&mounts, "/c", &[]).is_none());
    }

    #[test]
    fn only_get_and_head_ask_for_files() {
        let site = site(&[("a", "content")]);
        let mounts = mounted(&site);
        let query = |method| {
            let request = Request::builder().method(method).uri("/a").body(());
            let (request, ()) = request.expect("a request").into_parts();
            let query = mounts.query(&request)?;
            query.run(Access::Any).expect("no error")
        };
        let response = query(Method::HEAD).expect("found");
        assert_eq!(response.headers()[CONTENT_LENGTH], "7");
        assert!(matches!(response.body(), FileContent::Empty));
        assert!(query(Method::POST).is_none() && query(Method::OPTIONS).is_none());
    }

    #[test]
    fn the_longest_prefix_serves_and_says_how_long_caches_keep_it() {
        let outer = site(&[("assets/a", "outer"), ("b", "outer")]);
        let inner = site(&[("a", "inner"), ("a-3f786850.js", "")]);
        let day = HeaderValue::from_static("max-age=86400");
        let [outer, inner] = [("/", &outer), ("/assets", &inner)].map(mount);
        let mounts = Mounts::new(vec![outer, inner.with_cache_control(day)]);
        let control = |path| {
            let response = run(&mounts, path, &[]).expect("found");
            response.headers().get(CACHE_CONTROL).cloned()
        };
        has_text(&mounts, "/assets/a", &[], "inner");
        assert_eq!(control("/assets/a").expect("a value"), "max-age=86400");
        assert_eq!(control("/assets/a-3f786850.js").expect("a value"), FOREVER);
        assert_eq!(control("/b"), None);
    }

    #[test]
    fn what_one_mount_lacks_the_next_may_have() {
        let outer = site(&[("assets/b/c", "outer")]);
        let inner = site(&[("b/a", "inner")]);
        let mounts = Mounts::new([("/assets", &inner), ("/", &outer)].map(mount).into());
        has_text(&mounts, "/assets/b/c", &[], "outer");
    }

    #[test]
    fn a_page_for_what_is_not_there() {
        let site = site(&[("404.html", "nothing here"), ("a", "")]);
        let docs = mount(("/docs", &site));
        let mounts = Mounts::new(vec![docs.with_not_found("404.html".to_owned())]);
        let response = run(&mounts, "/docs/x", &[]).expect("a response");
        let found = (response.status(), response.headers().get(ETAG));
        assert_eq!(found, (StatusCode::NOT_FOUND, None));
        assert_eq!(text(Some(response)), "nothing here");
        assert!(run(&mounts, "/x", &[]).is_none());
    }

    #[test]
    fn the_best_compressed_variant_is_sent() {
        let site = site(&[
            ("a.js", "plain"),
            ("a.js.gz", "gzip"),
            ("a.js.br", "brotli"),
            ("a.png", "image"),
            ("a.png.gz", ""),
        ]);
        let mounts = mounted(&site);
        let coded =
            |accepted| run(&mounts, "/a.js", &[("accept-encoding", accepted)]).expect("found");
        for (accepted, coding, content) in [
            ("gzip, br", "br", "brotli"),
            ("gzip", "gzip", "gzip"),
            ("zstd, gzip;q=0.5", "gzip", "gzip"),
        ] {
            let response = coded(accepted);
            assert_eq!(response.headers()[CONTENT_ENCODING], coding);
            assert_eq!(response.headers()[VARY], "Accept-Encoding");
            assert_eq!(response.headers()[CONTENT_TYPE], "text/javascript");
            assert_eq!(text(Some(response)), content);
        }
        let plain = coded("identity");
        assert_eq!(plain.headers().get(CONTENT_ENCODING), None);
        assert_eq!(plain.headers()[VARY], "Accept-Encoding");
        assert_ne!(plain.headers()[ETAG], coded("gzip").headers()[ETAG]);
        has_text(&mounts, "/a.png", &[("accept-encoding", "gzip")], "image");
    }

    #[test]
    fn a_variant_that_is_older_than_the_file_is_not_sent() {
        let site = site(&[("a.js", "new"), ("a.js.gz", "old")]);
        let hour = SystemTime::now() - Duration::from_secs(3600);
        let old = File::options()
            .write(true)
            .open(site.path().join("a.js.gz"));
        let times = FileTimes::new().set_modified(hour);
        old.expect("opened").set_times(times).expect("set");
        has_text(
            &mounted(&site),
            "/a.js",
            &[("accept-encoding", "gzip")],
            "new",
        );
    }

    #[test]
    fn a_client_that_has_the_file_gets_304() {
        let site = site(&[("a.txt", "content")]);
        let mounts = mounted(&site);
        let first = run(&mounts, "/a.txt", &[]).expect("found");
        let value = |name| first.headers()[name].to_str().expect("ASCII").to_owned();
        for (name, value) in [
            ("if-none-match", value(ETAG)),
            ("if-modified-since", value(LAST_MODIFIED)),
        ] {
            let response = run(&mounts, "/a.txt", &[(name, &value)]).expect("found");
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
            assert_eq!(response.headers()[ETAG], first.headers()[ETAG]);
            assert!(!response.headers().contains_key(CONTENT_LENGTH));
            assert!(!response.headers().contains_key(CONTENT_TYPE));
        }
        let response = run(&mounts, "/a.txt", &[("if-match", "\"other\"")]).expect("found");
        assert_eq!(response.status(), StatusCode::PRECONDITION_FAILED);
    }
}
