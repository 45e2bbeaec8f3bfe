use std::path::PathBuf;

/// An address of the `bind` option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// `tcp://host:port`; the host may be a name, an IPv4 or a bracketed IPv6 address.
    Tcp { host: String, port: u16 },
    /// `unix:///path?mode=0660`.
    Unix { path: PathBuf, mode: Option<u32> },
    /// `fd://3`: a listener that was inherited, as with systemd.
    Inherited,
}

impl Address {
    /// Parses one value of the `bind` option.
    pub(super) fn parse(text: &str) -> Result<Address, String> {
        if let Some(rest) = text.strip_prefix("tcp://") {
            tcp(rest)
        } else if let Some(rest) = text.strip_prefix("unix://") {
            unix(rest)
        } else if text.starts_with("fd://") {
            Ok(Address::Inherited)
        } else {
            Err("begins with none of tcp://, unix:// and fd://".to_owned())
        }
        .map_err(|reason| format!("bind {text}: {reason}"))
    }
}

fn tcp(rest: &str) -> Result<Address, String> {
    let (host, port) = rest.rsplit_once(':').ok_or("has no port")?;
    let port = port
        .parse()
        .map_err(|_| format!("{port:?} is not a port"))?;
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    Ok(Address::Tcp { host, port })
}

fn unix(rest: &str) -> Result<Address, String> {
    let (path, query) = rest
        .split_once('?')
        .map_or((rest, None), |(path, query)| (path, Some(query)));
    let mode = match query {
        None => None,
        Some(query) => {
            let digits = query
                .strip_prefix("mode=")
                .ok_or("only `?mode=` may follow the path")?;
            let mode = u32::from_str_radix(digits, 8);
            Some(mode.map_err(|_| format!("{digits:?} is not an octal mode"))?)
        }
    };
    Ok(Address::Unix {
        path: PathBuf::from(path),
        mode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_bind_option_is_parsed() {
        let tcp = |host: &str, port| {
            Ok(Address::Tcp {
                host: host.to_owned(),
                port,
            })
        };
        assert_eq!(Address::parse("tcp://0.0.0.0:9292"), tcp("0.0.0.0", 9292));
        assert_eq!(Address::parse("tcp://[::1]:0"), tcp("::1", 0));
        assert_eq!(
            Address::parse("unix:///run/carat.sock?mode=0660"),
            Ok(Address::Unix {
                path: "/run/carat.sock".into(),
                mode: Some(0o660)
            })
        );
        assert_eq!(Address::parse("fd://3"), Ok(Address::Inherited));
        for wrong in [
            "9292",
            "tcp://localhost",
            "tcp://h:99999",
            "unix:///s?mode=rw",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
