/// A path, or the beginning of a path. Paths are compared as applications route them: decoded, with each run of slashes
/// as one slash, and without a slash at the end. A client therefore cannot leave a pool by writing its path in another
/// way.
#[derive(Debug)]
pub struct PathPattern {
    path: String,
    /// Whether anything may follow.
    is_prefix: bool,
}

impl PathPattern {
    /// Reads a pattern. A pattern that ends with `*` matches every path that begins with the text before it.
    pub fn new(text: &str) -> PathPattern {
        let path = text.strip_suffix('*');
        PathPattern {
            path: path.unwrap_or(text).to_owned(),
            is_prefix: path.is_some(),
        }
    }

    /// Whether the pattern matches this path of a request.
    pub fn matches(&self, path: &str) -> bool {
        let mut bytes = plain(path.as_bytes());
        let pattern = if self.is_prefix {
            &self.path
        } else {
            self.path.trim_end_matches('/')
        };
        if !pattern.bytes().all(|byte| bytes.next() == Some(byte)) {
            return false;
        }
        self.is_prefix || matches!((bytes.next(), bytes.next()), (None | Some(b'/'), None))
    }
}

/// The bytes of a path, decoded, each run of slashes as one.
fn plain(path: &[u8]) -> impl Iterator<Item = u8> + '_ {
    let (mut rest, mut last) = (path, 0);
    std::iter::from_fn(move || {
        loop {
            let (byte, length) = decoded(rest)?;
            rest = &rest[length..];
            if byte != b'/' || last != b'/' {
                last = byte;
                return Some(byte);
            }
        }
    })
}

/// The first byte, decoded, and how many bytes encoded it.
fn decoded(path: &[u8]) -> Option<(u8, usize)> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    if let [b'%', high, low, ..] = *path {
        if let (Some(high), Some(low)) = (digit(high), digit(low)) {
            let byte = u8::try_from(high * 16 + low);
            return byte.ok().map(|byte| (byte, 3));
        }
    }
    path.first().map(|byte| (*byte, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, paths: &[&str]) -> Vec<bool> {
        let pattern = PathPattern::new(pattern);
        paths.iter().map(|path| pattern.matches(path)).collect()
    }

    #[test]
    fn a_path_is_meant_however_it_is_spelled() {
        let paths = [
            "/export",
            "/export/",
            "//export",
            "/%65xport",
            "/e%78port%2F",
        ];
        assert_eq!(matches("/export", &paths), [true; 5]);
        let others = [
            "/",
            "",
            "/exports",
            "/export/1",
            "/export//x",
            "/Export",
            "/expor%7",
        ];
        assert_eq!(matches("/export", &others), [false; 7]);
    }

    #[test]
    fn anything_may_follow_a_star() {
        let paths = ["/reports/1", "/reports/", "/%72eports//1", "/reports%2f"];
        assert_eq!(matches("/reports/*", &paths), [true; 4]);
        let found = matches("/reports/*", &["/reports", "/report/s"]);
        assert_eq!(found, [false; 2]);
        assert_eq!(matches("/*", &["/", "/a", "*"]), [true, true, false]);
        assert_eq!(matches("/", &["/", "//", "/a"]), [true, true, false]);
    }
}
