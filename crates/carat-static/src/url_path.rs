/// The only hidden directory that is public (RFC 8615).
const WELL_KNOWN: &[u8] = b".well-known";

/// The path of a URL as the name of a file: decoded, relative, and without a segment that leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UrlPath {
    /// Segments separated by slashes, without one at either end.
    name: Vec<u8>,
    /// Whether the path names a directory: it ends with a slash.
    is_directory: bool,
}

impl UrlPath {
    /// Reads the path of a request. `None` when it names no file that may be served. It refuses `.` and `..`, names
    /// that begin with a dot, empty segments, encoded slashes and zero bytes, and what is not percent-encoded
    /// correctly.
    pub(crate) fn parse(path: &str) -> Option<UrlPath> {
        let path = path.strip_prefix('/')?;
        if path.is_empty() {
            return Some(UrlPath {
                name: Vec::new(),
                is_directory: true,
            });
        }
        let directory = path.strip_suffix('/');
        let (path, is_directory) = (directory.unwrap_or(path), directory.is_some());
        let mut name = Vec::with_capacity(path.len());
        for (index, segment) in path.split('/').enumerate() {
            if index > 0 {
                name.push(b'/');
            }
            let start = name.len();
            decode(segment.as_bytes(), &mut name)?;
            let segment = name.get(start..)?;
            let is_hidden = segment.starts_with(b".") && (index > 0 || segment != WELL_KNOWN);
            if segment.is_empty() || is_hidden {
                return None;
            }
        }
        Some(UrlPath { name, is_directory })
    }

    /// The path below `prefix`, which is the name of a directory; `None` when it lies elsewhere.
    pub(crate) fn below(&self, prefix: &[u8]) -> Option<UrlPath> {
        if prefix.is_empty() {
            return Some(self.clone());
        }
        let rest = self.name.strip_prefix(prefix)?;
        let (name, is_directory) = match rest.split_first() {
            None => (Vec::new(), true),
            Some((b'/', name)) => (name.to_vec(), self.is_directory),
            Some(_) => return None,
        };
        Some(UrlPath { name, is_directory })
    }

    /// The first segment; `None` for the directory itself.
    pub(crate) fn first_segment(&self) -> Option<&[u8]> {
        let first = self.name.split(|&byte| byte == b'/').next();
        first.filter(|first| !first.is_empty())
    }

    /// The name of the file itself; `None` for a directory.
    pub(crate) fn file(&self) -> Option<&[u8]> {
        (!self.is_directory).then_some(&self.name)
    }

    /// The name of the page without its extension: `/about` stands for `about.html`, too.
    pub(crate) fn page(&self) -> Option<Vec<u8>> {
        let file = self.file()?;
        Some([file, b".html"].concat())
    }

    /// The name of the page of a directory.
    pub(crate) fn index(&self) -> Vec<u8> {
        let slash: &[u8] = if self.name.is_empty() { b"" } else { b"/" };
        [&self.name, slash, b"index.html"].concat()
    }
}

/// Appends the bytes that a percent-encoded segment stands for.
fn decode(segment: &[u8], name: &mut Vec<u8>) -> Option<()> {
    let mut bytes = segment.iter();
    while let Some(&byte) = bytes.next() {
        let byte = match byte {
            b'%' => digit(*bytes.next()?)? << 4 | digit(*bytes.next()?)?,
            byte => byte,
        };
        if matches!(byte, 0 | b'/') {
            return None;
        }
        name.push(byte);
    }
    Some(())
}

fn digit(byte: u8) -> Option<u8> {
    let digit = char::from(byte).to_digit(16)?;
    u8::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(path: &str) -> Option<Vec<u8>> {
        UrlPath::parse(path)?.file().map(<[u8]>::to_vec)
    }

    #[test]
    fn names_are_decoded() {
        assert_eq!(file("/a/b.txt"), Some(b"a/b.txt".to_vec()));
        assert_eq!(file("/%61%20b"), Some(b"a b".to_vec()));
        assert_eq!(file("/%ff"), Some(b"\xff".to_vec()));
        assert_eq!(file("/%252e"), Some(b"%2e".to_vec()));
        assert_eq!(file("/.well-known/x"), Some(b".well-known/x".to_vec()));
    }

    #[test]
    fn what_leads_elsewhere_is_no_name() {
        let texts = "|*|a|//|//a|/a//b|/.|/..|/../a|/a/..|/a/../b|/%2e%2e/a|/.%2e/a|/a%2fb|/a%00|\
            /%|/%4|/%zz|/.env|/a/.git/config|/%2egit|/a/.well-known/x|/./a";
        for path in texts.split('|') {
            assert_eq!(UrlPath::parse(path), None, "{path}");
        }
    }

    #[test]
    fn a_directory_has_an_index_and_a_page_needs_no_extension() {
        let path = |text| UrlPath::parse(text).expect("a path");
        assert_eq!(path("/").index(), b"index.html");
        assert_eq!(path("/a/").index(), b"a/index.html");
        assert_eq!((path("/a/").file(), path("/a/").page()), (None, None));
        assert_eq!(path("/a/b").page(), Some(b"a/b.html".to_vec()));
        assert_eq!(path("/a/b").first_segment(), Some(&b"a"[..]));
        assert_eq!(path("/").first_segment(), None);
    }

    #[test]
    fn a_prefix_ends_with_a_segment() {
        let below = |path, prefix| UrlPath::parse(path).and_then(|path| path.below(prefix));
        assert_eq!(below("/a/b", b"a"), UrlPath::parse("/b"));
        assert_eq!(below("/a/b/", b"a"), UrlPath::parse("/b/"));
        assert_eq!(below("/a", b"a"), UrlPath::parse("/"));
        assert_eq!(below("/ab", b"a"), None);
        assert_eq!(below("/b", b"a"), None);
        assert_eq!(below("/b", b""), UrlPath::parse("/b"));
    }

    proptest! {
        #[test]
        fn no_path_leads_out_of_the_directory(path in "/[a.%2eEfF0/]{0,24}") {
            if let Some(path) = UrlPath::parse(&path) {
                let names = path.file().map(<[u8]>::to_vec).into_iter().chain([path.index()]).chain(path.page());
                for name in names {
                    prop_assert!(!name.starts_with(b"/") && !name.contains(&0));
                    prop_assert!(name.split(|&byte| byte == b'/').all(|segment| !segment.is_empty() && segment[0] != b'.'));
                }
            }
        }
    }
}
