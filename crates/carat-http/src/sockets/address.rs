use std::path::PathBuf;

use crate::sockets::address_parameters::AddressParameters;
use carat_tls::{CertificateSource, ClientAuthority};

/// An address of the `bind` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) place: Place,
    /// Whether each connection begins with a PROXY header.
    pub(crate) is_proxied: bool,
    /// `None` without TLS.
    pub(crate) certificates: Option<CertificateSource>,
    /// `None` when clients are not asked for a certificate.
    pub(crate) clients: Option<ClientAuthority>,
}

/// Where a listener is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `tcp://host:port`, or `tls://host:port`; the host may be a name, an IPv4 or a bracketed IPv6 address, or `*`.
    Tcp { host: String, port: u16 },
    /// `unix:///path?mode=0660`.
    Unix { path: PathBuf, mode: Option<u32> },
    /// `fd://3`: a listener that was inherited, as with systemd.
    Inherited,
}

impl Address {
    /// Parses one value of the `bind` option.
    pub(crate) fn parse(text: &str) -> Result<Address, String> {
        address(text).map_err(|reason| format!("bind {text}: {reason}"))
    }

    /// Whether `other`, a value of the `bind` option, names the same place as this address, whose value is `text`.
    pub(crate) fn is_place_of(&self, text: &str, other: &str) -> bool {
        match (&self.place, Address::parse(other).map(|other| other.place)) {
            (Place::Inherited, _) => without_query(text) == without_query(other),
            (Place::Unix { path, .. }, Ok(Place::Unix { path: other, .. })) => *path == other,
            (place, Ok(other)) => *place == other,
            (_, Err(_)) => false,
        }
    }
}

fn without_query(text: &str) -> &str {
    text.split_once('?').map_or(text, |(at, _)| at)
}

fn address(text: &str) -> Result<Address, String> {
    let (at, query) = text.split_once('?').unwrap_or((text, ""));
    let parameters = AddressParameters::parse(query)?;
    let place = if let Some(rest) = at.strip_prefix("tcp://") {
        tcp(rest)
    } else if let Some(rest) = at.strip_prefix("tls://") {
        tcp(rest)
    } else if let Some(path) = at.strip_prefix("unix://") {
        Ok(Place::Unix {
            path: PathBuf::from(path),
            mode: parameters.mode,
        })
    } else if at.starts_with("fd://") {
        Ok(Place::Inherited)
    } else {
        Err("begins with none of tcp://, tls://, unix:// and fd://".to_owned())
    };
    let place = place?;
    if parameters.mode.is_some() && !matches!(place, Place::Unix { .. }) {
        return Err("only a Unix socket has a mode".to_owned());
    }
    if parameters.certificates.is_some() != at.starts_with("tls://") {
        return Err(
            "TLS is tls://HOST:PORT?cert=FILE&key=FILE, ?certs=FOLDER, or ?acme=NAME".to_owned(),
        );
    }
    if parameters.clients.is_some() && parameters.certificates.is_none() {
        return Err("only a tls:// address has ca=FILE".to_owned());
    }
    Ok(Address {
        place,
        is_proxied: parameters.proxy_protocol,
        certificates: parameters.certificates,
        clients: parameters.clients,
    })
}

fn tcp(rest: &str) -> Result<Place, String> {
    let (host, port) = rest.rsplit_once(':').ok_or("has no port")?;
    let port = port
        .parse()
        .map_err(|_| format!("{port:?} is not a port"))?;
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    Ok(Place::Tcp { host, port })
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_tls::{AcmeNames, TlsFiles};

    fn plain(place: Place) -> Address {
        Address {
            place,
            is_proxied: false,
            certificates: None,
            clients: None,
        }
    }

    fn proxied(place: Place) -> Address {
        Address {
            is_proxied: true,
            ..plain(place)
        }
    }

    fn encrypted(place: Place, certificates: CertificateSource) -> Address {
        Address {
            certificates: Some(certificates),
            ..plain(place)
        }
    }

    fn tcp(host: &str, port: u16) -> Place {
        Place::Tcp {
            host: host.to_owned(),
            port,
        }
    }

    fn unix(mode: Option<u32>) -> Place {
        Place::Unix {
            path: "/run/carat.sock".into(),
            mode,
        }
    }

    #[test]
    fn every_form_of_the_bind_option_is_parsed() {
        for (text, expected) in [
            ("tcp://0.0.0.0:9292", plain(tcp("0.0.0.0", 9292))),
            ("tcp://[::1]:0", plain(tcp("::1", 0))),
            ("tcp://*:80", plain(tcp("*", 80))),
            ("tcp://[::1]:0?proxy_protocol=true", proxied(tcp("::1", 0))),
            ("tcp://[::1]:0?proxy_protocol=false", plain(tcp("::1", 0))),
            ("unix:///run/carat.sock?mode=0660", plain(unix(Some(0o660)))),
            ("unix:///run/carat.sock", plain(unix(None))),
            (
                "unix:///run/carat.sock?mode=0660&proxy_protocol=true",
                proxied(unix(Some(0o660))),
            ),
            (
                "tls://[::1]:443?cert=/a.pem&key=/b.pem&proxy_protocol=false",
                encrypted(
                    tcp("::1", 443),
                    CertificateSource::Files(vec![TlsFiles {
                        cert: "/a.pem".into(),
                        key: "/b.pem".into(),
                    }]),
                ),
            ),
            (
                "tls://h:443?certs=/etc/certs",
                encrypted(
                    tcp("h", 443),
                    CertificateSource::Folder("/etc/certs".into()),
                ),
            ),
            (
                "tls://h:443?certs=/c&ca=/ca.pem&verify=optional",
                Address {
                    clients: Some(ClientAuthority {
                        file: "/ca.pem".into(),
                        is_required: false,
                    }),
                    ..encrypted(tcp("h", 443), CertificateSource::Folder("/c".into()))
                },
            ),
            ("fd://3", plain(Place::Inherited)),
            ("fd://3?proxy_protocol=true", proxied(Place::Inherited)),
        ] {
            assert_eq!(Address::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn certificates_may_come_from_an_authority() {
        let names = ["a.example".to_owned(), "b.example".to_owned()].to_vec();
        let source = CertificateSource::Acme(AcmeNames {
            names,
            ..AcmeNames::default()
        });
        assert_eq!(
            Address::parse("tls://h:443?acme=a.example,B.example"),
            Ok(encrypted(tcp("h", 443), source))
        );
    }

    #[test]
    fn parameters_do_not_make_another_place() {
        let is_same = |one: &str, other: &str| {
            Address::parse(one).is_ok_and(|address| address.is_place_of(one, other))
        };
        assert!(is_same("tcp://h:0", "tcp://h:0?proxy_protocol=true"));
        assert!(is_same("unix:///s?mode=0600", "unix:///s"));
        assert!(is_same("fd://3", "fd://3?proxy_protocol=true"));
        assert!(is_same("tcp://h:1", "tls://h:1?certs=/etc/certs"));
        for other in [
            "tcp://h:1",
            "tcp://i:0",
            "unix:///h:0",
            "fd://3",
            "nonsense",
        ] {
            assert!(!is_same("tcp://h:0", other), "{other}");
        }
        assert!(!is_same("fd://3", "fd://4"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for wrong in [
            "9292",
            "tcp://localhost",
            "tcp://h:99999",
            "tcp://h:1?mode=0660",
            "tcp://h:1?proxy_protocol=yes",
            "tcp://h:1?backlog=1",
            "unix:///s?mode=rw",
            "tls://h:1",
            "tls://h:1?cert=/a.pem",
            "tls://h:1?acme=*.example.com",
            "tls://h:1?acme=a.example&cert=/a.pem&key=/b.pem",
            "tls://h:1?certs=/a&acme=a.example",
            "tcp://h:1?acme=a.example",
            "tls://h:1?key=/a.pem",
            "tls://h:1?cert=/a.pem&cert=/a.pem&key=/b.pem",
            "tls://h:1?certs=/a&cert=/a.pem&key=/b.pem",
            "tls://h:1?cert=/a.pem&key=/b.pem&odd=1",
            "tcp://h:1?certs=/a",
            "tcp://h:1?ca=/a",
            "tls://h:1?certs=/a&verify=required",
            "tls://h:1?certs=/a&ca=/a&verify=yes",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
