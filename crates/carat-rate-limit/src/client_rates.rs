use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Clients that are remembered at once: 16 bytes each, 1 MiB in all.
const CLIENTS_LIMIT: usize = 64 * 1024;

/// How many places there are in a row. The hash of a client chooses its row, and is random: nobody outside knows which
/// clients share one.
const ROW: usize = 8;

/// A number of requests in a period. A client may send all of them at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many requests, at least one.
    pub requests: u32,
    /// In how much time, more than zero.
    pub period: Duration,
}

/// The requests of client addresses, counted by the generic cell rate algorithm (ITU-T I.371). Each client has only a
/// time: when all its requests would be done, if each took its share of the period.
pub struct ClientRates {
    period: u64,
    share: u64,
    start: Instant,
    rows: RefCell<Vec<[ClientPlace; ROW]>>,
    hasher: RandomState,
}

/// A client, and the time at which all its requests are done. Times are nanoseconds since the
/// start.
#[derive(Clone, Copy, Default)]
struct ClientPlace {
    client: u64,
    done: u64,
}

impl ClientRates {
    /// The rates of clients that have not sent a request before `start`.
    pub fn new(rate: Rate, start: Instant) -> ClientRates {
        let period = nanoseconds(rate.period);
        ClientRates {
            period,
            share: period / u64::from(rate.requests),
            start,
            rows: RefCell::new(vec![[ClientPlace::default(); ROW]; CLIENTS_LIMIT / ROW]),
            hasher: RandomState::new(),
        }
    }

    /// Counts a request of a client. An error says after how much time the client may send it; a refused request does
    /// not count.
    ///
    /// A client that finds no free place in its row takes over the place that is done first, together with the time
    /// that is left there. The time of a place therefore never moves backward. A client that lost its place and returns
    /// gets one that is done no earlier than its own was: it is not served before its time, however many others come.
    pub fn take(&self, client: IpAddr, now: Instant) -> Result<(), Duration> {
        let (client, now) = (network(client), self.time(now));
        let hash = self.hasher.hash_one(client);
        let mut rows = self.rows.borrow_mut();
        let count = rows.len() as u64;
        let row = usize::try_from(hash % count).expect("an index");
        let place = place_of(&mut rows[row], client);
        let done = place.done.max(now) + self.share;
        let early = done.saturating_sub(now + self.period);
        if early > 0 {
            return Err(Duration::from_nanos(early));
        }
        *place = ClientPlace { client, done };
        Ok(())
    }

    /// How many clients have sent requests that are not done.
    pub fn clients(&self, now: Instant) -> usize {
        let now = self.time(now);
        let rows = self.rows.borrow();
        let places = rows.as_flattened().iter();
        places.filter(|place| place.done > now).count()
    }

    fn time(&self, now: Instant) -> u64 {
        nanoseconds(now.saturating_duration_since(self.start))
    }
}

/// The place of a client, or the one that is done first.
fn place_of(row: &mut [ClientPlace; ROW], client: u64) -> &mut ClientPlace {
    let own = row.iter().position(|place| place.client == client);
    let index = own.or_else(|| (0..ROW).min_by_key(|index| row[*index].done));
    &mut row[index.expect("a row has places")]
}

/// The duration in nanoseconds, which fit into 64 bits for centuries.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("less than centuries")
}

/// The number of a client. A client is an address of IPv4, or a network of IPv6 with 64 bits, since
/// one host may use all its addresses. The numbers of IPv4 are in `0000::/8`, where no client of
/// IPv6 is (RFC 4291, section 2.4).
fn network(client: IpAddr) -> u64 {
    match client.to_canonical() {
        IpAddr::V4(address) => 0xffff << 32 | u64::from(address.to_bits()),
        IpAddr::V6(address) => u64::try_from(address.to_bits() >> 64).expect("64 bits"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rates(requests: u32, start: Instant) -> ClientRates {
        let period = SECOND;
        ClientRates::new(Rate { requests, period }, start)
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Sends a request of each of `addresses` further clients. Returns how many of them are served.
    fn flood(rates: &ClientRates, addresses: u32, now: Instant) -> usize {
        let first = Ipv4Addr::new(10, 0, 0, 0).to_bits();
        let others = (0..addresses).map(|number| Ipv4Addr::from(first + number));
        let served = others.filter(|other| rates.take(IpAddr::V4(*other), now).is_ok());
        served.count()
    }

    #[test]
    fn a_client_may_send_a_period_at_once_and_then_its_share() {
        let start = Instant::now();
        let (rates, client) = (rates(4, start), address("192.0.2.1"));
        let sent = |at: Instant| (0..9).filter(|_| rates.take(client, at).is_ok()).count();
        assert_eq!(sent(start), 4);
        assert_eq!(sent(start + SECOND / 4), 1);
        assert_eq!(sent(start + SECOND), 3);
        assert_eq!(sent(start + 60 * SECOND), 4);
    }

    #[test]
    fn a_refused_client_is_told_when_and_a_refused_request_does_not_count() {
        let start = Instant::now();
        let (rates, client) = (rates(2, start), address("192.0.2.1"));
        assert_eq!(rates.take(client, start), Ok(()));
        assert_eq!(rates.take(client, start), Ok(()));
        for eighth in 0..4 {
            let wait = SECOND * (4 - eighth) / 8;
            let now = start + SECOND * eighth / 8;
            assert_eq!(rates.take(client, now), Err(wait));
        }
        assert_eq!(rates.take(client, start + SECOND / 2), Ok(()));
    }

    #[test]
    fn each_address_has_a_rate_of_its_own_and_a_network_of_ipv6_has_one() {
        let now = Instant::now();
        let rates = rates(1, now);
        let is_free = |text| rates.take(address(text), now).is_ok();
        assert!(is_free("192.0.2.1") && is_free("192.0.2.2"));
        assert!(!is_free("::ffff:192.0.2.1") && is_free("::1"));
        assert!(is_free("2001:db8:0:1::1") && is_free("2001:db8:0:2::1"));
        assert!(!is_free("2001:db8:0:1:ffff::2"));
        assert_eq!((rates.clients(now), rates.clients(now + SECOND)), (5, 0));
    }

    #[test]
    fn no_more_clients_are_remembered_than_the_limit() {
        let now = Instant::now();
        let rates = rates(100, now);
        assert_eq!(flood(&rates, 1_000_000, now), 1_000_000);
        assert_eq!(rates.clients(now), CLIENTS_LIMIT);
        assert_eq!(size_of_val(&rates.rows.borrow()[..]), 1 << 20);
    }

    #[test]
    fn a_flood_of_addresses_frees_no_client_that_has_used_up_its_rate() {
        let start = Instant::now();
        let rates = rates(20, start);
        let hot = |number: u32| IpAddr::V6(Ipv6Addr::from(u128::from(number + 1) << 64));
        for client in 0..1000 {
            assert!((0..20).all(|_| rates.take(hot(client), start).is_ok()));
        }
        // More addresses than there are places, in each hundredth of a second, and no request of the clients meanwhile.
        for hundredth in 1..5 {
            let now = start + SECOND * hundredth / 100;
            let addresses = 2 * u32::try_from(CLIENTS_LIMIT).expect("small");
            assert!(flood(&rates, addresses, now) > 0);
            assert!((0..1000).all(|client| rates.take(hot(client), now).is_err()));
        }
    }

    #[test]
    fn a_client_that_was_pushed_out_is_not_served_before_its_time() {
        let start = Instant::now();
        let rates = rates(2, start);
        let client = address("192.0.2.1");
        assert_eq!(rates.take(client, start), Ok(()));
        assert_eq!(rates.take(client, start), Ok(()));
        // All clients of its row have used up their rates then: none of them is done before this
        // client.
        let refused = 1_000_000 - flood(&rates, 1_000_000, start);
        assert!(refused > 8 * CLIENTS_LIMIT, "{refused}");
        assert_eq!(rates.take(client, start), Err(SECOND / 2));
        assert_eq!(flood(&rates, 1000, start + SECOND), 1000);
    }
}
