use serde::Deserialize;

/// The path below which the application is reached, such as `/app`: the option `prefix`.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct UrlPrefix(String);

impl UrlPrefix {
    /// The prefix, without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A path of the application as clients send it, with the prefix. `path` may have the prefix or not.
    pub fn whole(&self, path: &str) -> String {
        let prefix = if self.contains(path) { "" } else { &self.0 };
        format!("{prefix}{path}")
    }

    /// Whether a request for this path is for the application. With the prefix `/app`, `/app` and `/app/x` are, and
    /// `/application` is not. The target of `OPTIONS *` is the whole server.
    pub fn contains(&self, path: &str) -> bool {
        let rest = path.strip_prefix(&self.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) || path == "*"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_given_with_the_prefix_or_without() {
        let prefix = UrlPrefix("/app".to_owned());
        for path in ["/cable", "/app/cable"] {
            assert_eq!(prefix.whole(path), "/app/cable");
        }
        assert_eq!(prefix.whole("/application"), "/app/application");
    }

    #[test]
    fn a_path_below_begins_with_the_whole_prefix() {
        let prefix = UrlPrefix("/app".to_owned());
        for path in ["/app", "/app/", "/app/x", "/app//x", "/app/../x", "*"] {
            assert!(prefix.contains(path), "{path}");
        }
        for path in "/|/application|/ap|//app|/x/app|/APP|/%61pp|/app%2fx|app".split('|') {
            assert!(!prefix.contains(path), "{path}");
        }
    }
}
