use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    bits: u8,
}

/// The networks whose hosts may say who their clients are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<Network>);

impl TrustedProxies {
    /// The proxies in any of these networks.
    pub fn new(networks: Vec<Network>) -> TrustedProxies {
        TrustedProxies(networks)
    }

    /// Whether `address` is a proxy's. An IPv4 address may be mapped into IPv6.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(address))
    }
}

impl Network {
    /// Whether `address`, in its canonical form, is in the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let difference = first.to_bits() ^ address.to_bits();
                difference.leading_zeros() >= u32::from(self.bits)
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let difference = first.to_bits() ^ address.to_bits();
                difference.leading_zeros() >= u32::from(self.bits)
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Network, &'static str> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().map_err(|_| "is not an IP address")?;
        let all = if first.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => all,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|bits| *bits <= all)
                .ok_or("has no prefix length of that address")?,
        };
        Ok(Network { first, bits })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proxies(networks: &[&str]) -> TrustedProxies {
        let parsed = networks.iter().map(|network| network.parse());
        TrustedProxies::new(parsed.collect::<Result<_, _>>().expect("networks"))
    }

    fn contains(networks: &[&str], address: &str) -> bool {
        proxies(networks).contains(address.parse().expect("an address"))
    }

    #[test]
    fn a_network_contains_its_addresses_and_no_others() {
        assert!(contains(&["10.0.0.0/8"], "10.255.0.1"));
        assert!(!contains(&["10.0.0.0/8"], "11.0.0.0"));
        assert!(contains(&["192.0.2.7"], "192.0.2.7"));
        assert!(!contains(&["192.0.2.7"], "192.0.2.6"));
        assert!(contains(&["::1", "fd00::/8"], "fd12::1"));
        assert!(!contains(&["fd00::/8"], "10.0.0.1"));
        assert!(contains(&["0.0.0.0/0"], "203.0.113.9"));
        assert!(!contains(&["0.0.0.0/0"], "::1"));
        assert!(!contains(&[], "127.0.0.1"));
    }

    #[test]
    fn an_ipv4_address_may_be_mapped_into_ipv6() {
        assert!(contains(&["10.0.0.0/8"], "::ffff:10.1.2.3"));
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in "|10|10.0.0.0/33|::/129|host|10.0.0.0/-1|1.2.3.4/".split('|') {
            assert!(text.parse::<Network>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_network_contains_the_address_that_it_begins_with(address: std::net::Ipv6Addr, bits in 0_u8..=128) {
            let network: Network = format!("{address}/{bits}").parse().expect("a network");
            prop_assert!(network.contains(IpAddr::V6(address)));
        }
    }
}
