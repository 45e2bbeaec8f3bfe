//! Version 1: a line of text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use super::{BadProxyHeader, Client, ProxyHeader};

pub(super) const SIGNATURE: &[u8] = b"PROXY ";

/// The longest line, with its end.
const LINE_LIMIT: usize = 107;

pub(super) fn parse(bytes: &[u8]) -> Result<Option<ProxyHeader>, BadProxyHeader> {
    let window = &bytes[..bytes.len().min(LINE_LIMIT)];
    let Some(end) = window.windows(2).position(|pair| pair == b"\r\n") else {
        return if bytes.len() < LINE_LIMIT {
            Ok(None)
        } else {
            Err(BadProxyHeader("its line is too long"))
        };
    };
    let line = std::str::from_utf8(&bytes[SIGNATURE.len()..end]);
    let client = line.ok().and_then(client);
    Ok(Some(ProxyHeader {
        length: end + 2,
        client: client.ok_or(BadProxyHeader("its line is malformed"))?,
    }))
}

fn client(line: &str) -> Option<Client> {
    let mut words = line.split(' ');
    let parse: fn(&str) -> Option<IpAddr> = match words.next()? {
        // The rest of the line is to be ignored.
        "UNKNOWN" => return Some(Client::Unknown),
        "TCP4" => |word| Ipv4Addr::from_str(word).ok().map(IpAddr::V4),
        "TCP6" => |word| Ipv6Addr::from_str(word).ok().map(IpAddr::V6),
        _ => return None,
    };
    let (source, destination) = (parse(words.next()?)?, parse(words.next()?)?);
    let (from, to) = (port(words.next()?)?, port(words.next()?)?);
    words.next().is_none().then_some(Client::Tcp {
        source: SocketAddr::new(source, from),
        destination: SocketAddr::new(destination, to),
        is_encrypted: false,
    })
}

fn port(word: &str) -> Option<u16> {
    let is_canonical = word == "0" || !word.starts_with(['0', '+']);
    word.parse().ok().filter(|_| is_canonical)
}
