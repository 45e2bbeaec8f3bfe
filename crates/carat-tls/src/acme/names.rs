use std::path::PathBuf;

use super::further_names::FurtherNames;
use super::host_name::{CERTIFICATE, is_host_name};

/// The most names of a listener: each has a certificate of its own, and its files are looked at every ten seconds.
const NAMES_LIMIT: usize = 100;
/// The value that stands for all names that the application calls its own.
const EVERY_OWN_NAME: &str = "*";

/// What the listeners with certificates from an authority share.
#[derive(Debug, Clone, Default)]
pub(crate) struct AcmeHome {
    /// The folder in which each name has a folder of its own.
    pub(crate) folder: PathBuf,
    /// The names that the application has called its own.
    pub(crate) further: FurtherNames,
}

/// The names for which a listener has certificates from an authority, and where they are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AcmeNames {
    /// The names in lower case that the address lists. The certificate of the first one is for clients that name no known
    /// server.
    pub(crate) names: Vec<String>,
    /// The folder in which each name has a folder of its own.
    pub(crate) folder: PathBuf,
    /// The names that the application has called its own; `None` if the listener serves only those of its address.
    pub(crate) further: Option<FurtherNames>,
}

impl AcmeNames {
    /// No names yet.
    pub(crate) fn of(home: &AcmeHome) -> AcmeNames {
        AcmeNames {
            folder: home.folder.clone(),
            ..AcmeNames::default()
        }
    }

    /// All names at this moment, those of the address first.
    pub(crate) fn all(&self) -> Vec<String> {
        let further = self.further.iter().flat_map(FurtherNames::list);
        let further = further.filter(|name| !self.names.contains(name));
        self.names.iter().cloned().chain(further).collect()
    }

    /// The files with the certificate and the key of each name, which may be missing.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = PathBuf> {
        let path = |name| self.folder.join(name).join(CERTIFICATE);
        self.all().into_iter().map(path)
    }

    /// Adds the names of a value such as `example.com,www.example.com`, or `*`. The error is a clause.
    pub(crate) fn add(&mut self, value: &str, home: &AcmeHome) -> Result<(), String> {
        for name in value.split(',') {
            if name == EVERY_OWN_NAME {
                self.further = Some(home.further.clone());
                continue;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts_and_never_a_path() {
        let (mut names, home) = (AcmeNames::default(), AcmeHome::default());
        for value in [
            "Example.com,www.example.com",
            "example.com,xn--bcher-kva.example",
        ] {
            names.add(value, &home).expect("names");
        }
        assert_eq!(
            names.names,
            ["example.com", "www.example.com", "xn--bcher-kva.example"]
        );
        let texts = "|localhost|*.example.com|..|a/b.example|a..example|.example|-a.example|\
            192.0.2.1|2001:db8::1|a_b.example|a-.example|b\u{fc}cher.example|%2e%2e.example|example.com.|example.com,";
        for wrong in texts.split('|') {
            let added = AcmeNames::default().add(wrong, &home);
            assert!(added.is_err() && !is_host_name(wrong), "{wrong}");
        }
        let many: Vec<_> = (0..=NAMES_LIMIT)
            .map(|it| format!("a{it}.example"))
            .collect();
        let added = AcmeNames::default().add(&many.join(","), &home);
        assert!(added.is_err());
    }

    #[test]
    fn names_of_the_application_follow_those_of_the_address() {
        let (mut names, home) = (AcmeNames::default(), AcmeHome::default());
        names.add("b.example,*", &home).expect("names");
        for name in ["c.example", "a.example", "b.example"] {
            assert!(home.further.add(name), "{name}");
        }
        assert_eq!(names.all(), ["b.example", "a.example", "c.example"]);
        home.further.forget("a.example");
        assert_eq!(names.all(), ["b.example", "c.example"]);
        let mut closed = AcmeNames::of(&home);
        closed.add("b.example", &home).expect("names");
        assert_eq!(closed.all(), ["b.example"]);
    }
}
