use super::acme::{AcmeHome, AcmeNames};
use super::certificate_source::{CertificateSource, TlsFiles};
use super::clients::ClientAuthority;

/// The parameters of an address: `cert=FILE&key=FILE`, once or more, or `certs=FOLDER`, or `acme=NAME,*`; and
/// `ca=FILE&verify=optional`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TlsParameters {
    pub(crate) source: CertificateSource,
    /// `None` when clients are not asked for a certificate.
    pub(crate) clients: Option<ClientAuthority>,
}

/// The parameters that were read so far.
#[derive(Default)]
struct GivenParameters {
    source: Option<CertificateSource>,
    clients: Option<ClientAuthority>,
}

impl TlsParameters {
    /// Reads names and values. The error is a clause.
    pub(crate) fn parse(
        parameters: &[(String, String)],
        home: &AcmeHome,
    ) -> Result<TlsParameters, String> {
        let mut given = GivenParameters::default();
        let mut cert = None;
        for (name, value) in parameters {
            match (name.as_str(), cert.take()) {
                ("key", Some(cert)) => given.add(cert, value)?,
                ("key", None) | (_, Some(_)) => return Err(UNPAIRED.to_owned()),
                ("cert", None) => cert = Some(value),
                ("certs", None) if given.source.is_none() => {
                    given.source = Some(CertificateSource::Folder(value.into()));
                }
                ("acme", None) if given.source.is_none() => {
                    let mut names = AcmeNames::of(home);
                    names.add(value, home)?;
                    given.source = Some(CertificateSource::Acme(names));
                }
                ("ca", None) if given.clients.is_none() => {
                    given.clients = Some(ClientAuthority {
                        file: value.into(),
                        is_required: true,
                    });
                }
                ("verify", None) => {
                    let clients = given.clients.as_mut().ok_or(UNVERIFIED)?;
                    clients.is_required = match value.as_str() {
                        "required" => true,
                        "optional" => false,
                        _ => return Err(UNVERIFIED.to_owned()),
                    };
                }
                _ => return Err(format!("{name:?} is not a parameter")),
            }
        }
        if cert.is_some() {
            return Err(UNPAIRED.to_owned());
        }
        Ok(TlsParameters {
            source: given.source.ok_or(NO_CERTIFICATE)?,
            clients: given.clients,
        })
    }
}

impl GivenParameters {
    fn add(&mut self, cert: &str, key: &str) -> Result<(), String> {
        let files = TlsFiles {
            cert: cert.into(),
            key: key.into(),
        };
        let none = CertificateSource::Files(Vec::new());
        match self.source.get_or_insert(none) {
            CertificateSource::Files(all) => {
                all.push(files);
                Ok(())
            }
            CertificateSource::Folder(_) | CertificateSource::Acme(_) => {
                Err("has certificates of two kinds".to_owned())
            }
        }
    }
}

const UNVERIFIED: &str = "verify is required or optional, and follows ca=FILE";

const UNPAIRED: &str = "each cert=FILE must be followed by its key=FILE";

const NO_CERTIFICATE: &str =
    "TLS is tls://HOST:PORT?cert=FILE&key=FILE, ?certs=FOLDER, or ?acme=NAME";

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<TlsParameters, String> {
        parse_at(query, &home())
    }

    fn home() -> AcmeHome {
        AcmeHome {
            folder: "/acme".into(),
            ..AcmeHome::default()
        }
    }

    fn parse_at(query: &str, home: &AcmeHome) -> Result<TlsParameters, String> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').expect("a pair"));
        let pairs: Vec<_> = pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        TlsParameters::parse(&pairs, home)
    }

    fn files(names: &[&str]) -> CertificateSource {
        let files = names.iter().map(|name| TlsFiles {
            cert: format!("/{name}.pem").into(),
            key: format!("/{name}.key").into(),
        });
        CertificateSource::Files(files.collect())
    }

    #[test]
    fn certificates_come_from_files_a_folder_or_an_authority() {
        let acme = AcmeNames {
            names: vec!["a.example".to_owned(), "b.example".to_owned()],
            folder: "/acme".into(),
            further: None,
        };
        for (query, source) in [
            ("cert=/a.pem&key=/a.key", files(&["a"])),
            (
                "cert=/a.pem&key=/a.key&cert=/b.pem&key=/b.key",
                files(&["a", "b"]),
            ),
            ("certs=/c", CertificateSource::Folder("/c".into())),
            ("acme=a.example,B.example", CertificateSource::Acme(acme)),
        ] {
            let clients = None;
            assert_eq!(parse(query), Ok(TlsParameters { source, clients }));
        }
    }

    #[test]
    fn all_listeners_share_the_names_of_the_application() {
        let home = home();
        for query in ["acme=*", "acme=a.example,*", "acme=*&ca=/ca.pem"] {
            let parsed = parse_at(query, &home).expect("parameters");
            let CertificateSource::Acme(names) = parsed.source else {
                panic!("{query}");
            };
            assert_eq!(names.further.as_ref(), Some(&home.further));
        }
    }

    #[test]
    fn clients_may_be_asked_for_a_certificate() {
        for (query, is_required) in [
            ("certs=/c&ca=/ca.pem", true),
            ("ca=/ca.pem&certs=/c&verify=required", true),
            ("certs=/c&ca=/ca.pem&verify=optional", false),
        ] {
            let clients = parse(query).expect("parameters").clients;
            let file = "/ca.pem".into();
            assert_eq!(clients, Some(ClientAuthority { file, is_required }));
        }
    }

    #[test]
    fn what_makes_no_listener_is_refused() {
        for wrong in [
            "",
            "cert=/a.pem",
            "acme=*.example.com",
            "acme=a.example&cert=/a.pem&key=/b.pem",
            "certs=/a&acme=a.example",
            "key=/a.pem",
            "cert=/a.pem&cert=/a.pem&key=/b.pem",
            "certs=/a&cert=/a.pem&key=/b.pem",
            "cert=/a.pem&key=/b.pem&odd=1",
            "ca=/a",
            "certs=/a&verify=required",
            "certs=/a&ca=/a&verify=yes",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
