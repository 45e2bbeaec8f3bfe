use std::path::PathBuf;

/// An address of the `bind` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) place: Place,
    /// Whether each connection begins with a PROXY header.
    pub(crate) is_proxied: bool,
    /// `None` for a bare socket.
    pub(crate) transport: Option<TransportAddress>,
}

/// The part of an address that only its transport knows: the scheme, and the names and values of the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TransportAddress {
    pub(crate) scheme: String,
    pub(crate) parameters: Vec<(String, String)>,
}

/// Where a listener is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// `tcp://host:port`, or the same with the scheme of a transport; the host may be a name, an IPv4 or a bracketed IPv6
    /// address, or `*`.
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
    let mut parameters = AddressParameters::parse(query)?;
    let (scheme, rest) = at.split_once("://").ok_or("begins with no scheme")?;
    let place = match scheme {
        "unix" => Place::Unix {
            path: PathBuf::from(rest),
            mode: parameters.mode.take(),
        },
        "fd" => Place::Inherited,
        _ => tcp(rest)?,
    };
    if parameters.mode.is_some() {
        return Err("only a Unix socket has a mode".to_owned());
    }
    let is_bare = ["tcp", "unix", "fd"].contains(&scheme);
    match parameters.others.first() {
        Some((name, _)) if is_bare => return Err(format!("{name:?} is not a parameter")),
        _ => {}
    }
    Ok(Address {
        place,
        is_proxied: parameters.is_proxied,
        transport: (!is_bare).then(|| TransportAddress {
            scheme: scheme.to_owned(),
            parameters: parameters.others,
        }),
    })
}

/// The parameters that may follow an address, such as `mode=0660&proxy_protocol=true`.
#[derive(Default)]
struct AddressParameters {
    mode: Option<u32>,
    is_proxied: bool,
    /// Parameters that only a transport may know.
    others: Vec<(String, String)>,
}

impl AddressParameters {
    /// Parses the query of an address. The error is a clause.
    fn parse(query: &str) -> Result<AddressParameters, String> {
        let mut parameters = AddressParameters::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "mode" => {
                    let mode = u32::from_str_radix(value, 8);
                    let mode = mode.map_err(|_| format!("{value:?} is not an octal mode"))?;
                    parameters.mode = Some(mode);
                }
                "proxy_protocol" => {
                    let value = value.parse();
                    parameters.is_proxied =
                        value.map_err(|_| "proxy_protocol is not true or false")?;
                }
                _ => parameters.others.push((name.to_owned(), value.to_owned())),
            }
        }
        Ok(parameters)
    }
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

    fn plain(place: Place) -> Address {
        Address {
            place,
            is_proxied: false,
            transport: None,
        }
    }

    fn proxied(place: Place) -> Address {
        Address {
            is_proxied: true,
            ..plain(place)
        }
    }

    fn wrapped(place: Place, scheme: &str, parameters: &[(&str, &str)]) -> Address {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Address {
            transport: Some(TransportAddress {
                scheme: scheme.to_owned(),
                parameters: parameters.iter().map(owned).collect(),
            }),
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
                "odd://[::1]:443?a=/a.pem&proxy_protocol=false&b=1&b=2",
                wrapped(
                    tcp("::1", 443),
                    "odd",
                    &[("a", "/a.pem"), ("b", "1"), ("b", "2")],
                ),
            ),
            ("other://h:1", wrapped(tcp("h", 1), "other", &[])),
            ("fd://3", plain(Place::Inherited)),
            ("fd://3?proxy_protocol=true", proxied(Place::Inherited)),
        ] {
            assert_eq!(Address::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn parameters_do_not_make_another_place() {
        let is_same = |one: &str, other: &str| {
            Address::parse(one).is_ok_and(|address| address.is_place_of(one, other))
        };
        assert!(is_same("tcp://h:0", "tcp://h:0?proxy_protocol=true"));
        assert!(is_same("unix:///s?mode=0600", "unix:///s"));
        assert!(is_same("fd://3", "fd://3?proxy_protocol=true"));
        assert!(is_same("tcp://h:1", "odd://h:1?a=/etc"));
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
            "odd://h",
            "odd://h:1?mode=0660",
            "fd://3?a=/a",
            "unix:///s?a=/a",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
