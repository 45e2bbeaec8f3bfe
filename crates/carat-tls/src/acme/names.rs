use std::path::PathBuf;

/// The most names of a listener: each has a certificate of its own, and its files are looked at every ten seconds.
const NAMES_LIMIT: usize = 100;
/// The most bytes of a name (RFC 1035, section 2.3.4).
const NAME_LIMIT: usize = 253;
/// The most bytes of a label in a name (RFC 1035, section 2.3.4).
const LABEL_LIMIT: usize = 63;

/// The names for which a listener has certificates from an authority, and where they are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AcmeNames {
    /// The names in lower case. The certificate of the first one is for clients that name no known
    /// server.
    pub(crate) names: Vec<String>,
    /// The folder in which each name has a folder of its own.
    pub(crate) folder: PathBuf,
}

impl AcmeNames {
    /// The files with the certificate and the key of each name, which may be missing.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = PathBuf> {
        let path = |name| self.folder.join(name).join("certificate.pem");
        self.names.iter().map(path)
    }

    /// Adds the names of a value such as `example.com,www.example.com`. The error is a clause.
    pub(crate) fn add(&mut self, value: &str) -> Result<(), String> {
        for name in value.split(',') {
            let name = name.to_ascii_lowercase();
            if !is_host_name(&name) {
                return Err(format!("acme={name} is not the name of a host"));
            }
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        if self.names.len() > NAMES_LIMIT {
            return Err(format!("acme has more than {NAMES_LIMIT} names"));
        }
        Ok(())
    }
}

/// Whether this is the name of a host: two labels or more, of letters, digits, and hyphens, since
/// it also becomes the name of a folder. An address of IPv4 is refused because its last label has
/// no letter. A wildcard is refused because it needs a proof in the DNS, which the client cannot
/// give.
fn is_host_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=LABEL_LIMIT).contains(&label.len())
            && !label.starts_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= NAME_LIMIT
        && name.contains('.')
        && name.split('.').all(is_label)
        && last.bytes().any(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts_and_never_a_path() {
        let mut names = AcmeNames::default();
        names.add("Example.com,www.example.com").expect("names");
        names
            .add("example.com,xn--bcher-kva.example")
            .expect("names");
        assert_eq!(
            names.names,
            ["example.com", "www.example.com", "xn--bcher-kva.example"]
        );
        let texts = "|localhost|*.example.com|..|a/b.example|a..example|.example|-a.example|\
            192.0.2.1|a_b.example|example.com,";
        for wrong in texts.split('|') {
            assert!(AcmeNames::default().add(wrong).is_err(), "{wrong}");
        }
        let many: Vec<_> = (0..=NAMES_LIMIT)
            .map(|it| format!("a{it}.example"))
            .collect();
        assert!(AcmeNames::default().add(&many.join(",")).is_err());
    }
}
