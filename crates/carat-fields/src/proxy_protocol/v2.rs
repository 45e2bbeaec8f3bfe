//! Version 2: binary.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{BadProxyHeader, Client, PROXY_HEADER_LIMIT, ProxyHeader};

pub(super) const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// The signature, the command, the family, and the length of what follows.
const FIXED: usize = 16;

const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;

const TCP_IPV4: u8 = 0x11;
const TCP_IPV6: u8 = 0x21;

/// The type of the value about encryption.
const TYPE_SSL: u8 = 0x20;
/// The bit in the first byte of that value that says that the client uses encryption.
const CLIENT_SSL: u8 = 0x01;

pub(super) fn parse(bytes: &[u8]) -> Result<Option<ProxyHeader>, BadProxyHeader> {
    let Some((fixed, rest)) = bytes.split_first_chunk::<FIXED>() else {
        return Ok(None);
    };
    let [command, family, high, low] = [fixed[12], fixed[13], fixed[14], fixed[15]];
    if command != LOCAL && command != PROXY {
        return Err(BadProxyHeader("its version or command is unknown"));
    }
    let following = usize::from(u16::from_be_bytes([high, low]));
    let length = FIXED + following;
    if length > PROXY_HEADER_LIMIT {
        return Err(BadProxyHeader("it is too long"));
    }
    let Some(payload) = rest.get(..following) else {
        return Ok(None);
    };
    let client = match (command, family) {
        (PROXY, TCP_IPV4) => client(payload, |bytes: [u8; 4]| Ipv4Addr::from(bytes).into())?,
        (PROXY, TCP_IPV6) => client(payload, |bytes: [u8; 16]| Ipv6Addr::from(bytes).into())?,
        // Other families have no address that a client of HTTP could have.
        _ => Client::Unknown,
    };
    Ok(Some(ProxyHeader { length, client }))
}

fn client<const N: usize>(
    payload: &[u8],
    address: impl Fn([u8; N]) -> IpAddr,
) -> Result<Client, BadProxyHeader> {
    let short = BadProxyHeader("it is shorter than its addresses");
    let (source, rest) = payload.split_first_chunk::<N>().ok_or(short)?;
    let (destination, rest) = rest.split_first_chunk::<N>().ok_or(short)?;
    let ([a, b, c, d], values) = rest.split_first_chunk::<4>().ok_or(short)?;
    let values_are_bad = BadProxyHeader("its values are cut off");
    Ok(Client::Tcp {
        source: SocketAddr::new(address(*source), u16::from_be_bytes([*a, *b])),
        destination: SocketAddr::new(address(*destination), u16::from_be_bytes([*c, *d])),
        is_encrypted: is_encrypted(values).ok_or(values_are_bad)?,
    })
}

/// Whether the values behind the addresses say that the connection of the client is encrypted. `None` when one of them is cut off.
fn is_encrypted(mut values: &[u8]) -> Option<bool> {
    let mut is_encrypted = false;
    while let Some(([kind, high, low], rest)) = values.split_first_chunk::<3>() {
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let (value, after) = rest.split_at_checked(length)?;
        if *kind == TYPE_SSL {
            is_encrypted = value.first()? & CLIENT_SSL != 0;
        }
        values = after;
    }
    values.is_empty().then_some(is_encrypted)
}
