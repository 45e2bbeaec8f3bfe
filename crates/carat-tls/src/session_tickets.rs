use std::fmt;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::server::ProducesTickets;
use serde::{Deserialize, Serialize};

/// How long tickets are made with one key, in seconds. They are accepted for as long again.
const PERIOD: u32 = 6 * 60 * 60;

/// Makes and opens the session tickets of a listener. rustls' own cannot be told its keys, which survive an upgrade here.
#[derive(Debug)]
pub(super) struct SessionTickets(Mutex<TicketKeys>);

/// The keys of tickets. They are in memory only, and in the socket over which one edge hands them to the next.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketKeys {
    current: TicketKey,
    previous: Option<TicketKey>,
    /// When the current key is replaced, in seconds since 1970.
    ends_at: u64,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TicketKey {
    /// Begins each ticket that is made with the key.
    name: [u8; 16],
    secret: [u8; 32],
}

impl SessionTickets {
    /// Takes the keys of another server, or makes new ones; `None` without random numbers.
    pub(super) fn new(handed: Option<TicketKeys>) -> Option<SessionTickets> {
        let keys = match handed {
            Some(keys) => keys,
            None => TicketKeys::new(seconds())?,
        };
        Some(SessionTickets(Mutex::new(keys)))
    }

    /// The keys for another server.
    pub(super) fn keys(&self) -> Option<TicketKeys> {
        self.at(seconds(), |keys| Some(keys.clone()))
    }

    /// Uses the keys of this time.
    fn at<T>(&self, now: u64, using: impl FnOnce(&TicketKeys) -> Option<T>) -> Option<T> {
        let mut keys = self.0.lock().ok()?;
        keys.replace(now)?;
        using(&keys)
    }
}

impl ProducesTickets for SessionTickets {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        2 * PERIOD
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.at(seconds(), |keys| keys.current.seal(plain))
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        self.at(seconds(), |keys| keys.open(ticket))
    }
}

impl TicketKeys {
    fn new(now: u64) -> Option<TicketKeys> {
        Some(TicketKeys {
            current: TicketKey::new()?,
            previous: None,
            ends_at: now + u64::from(PERIOD),
        })
    }

    /// Replaces the current key when its time is over.
    fn replace(&mut self, now: u64) -> Option<()> {
        if now < self.ends_at {
            return Some(());
        }
        let before = std::mem::replace(self, TicketKeys::new(now)?);
        let is_recent = now < before.ends_at + u64::from(PERIOD);
        self.previous = is_recent.then_some(before.current);
        Some(())
    }

    fn open(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let previous = || self.previous.as_ref()?.open(ticket);
        self.current.open(ticket).or_else(previous)
    }
}

impl TicketKey {
    fn new() -> Option<TicketKey> {
        Some(TicketKey {
            name: random()?,
            secret: random()?,
        })
    }

    /// A ticket: the name of the key, a nonce, and what is sealed with both.
    fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut sealed = plain.to_vec();
        let (key, aad) = self.bound();
        let nonced = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonced, aad, &mut sealed)
            .ok()?;
        Some([&self.name[..], &nonce, &sealed].concat())
    }

    fn open(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let named = ticket.strip_prefix(&self.name)?;
        let (nonce, sealed) = named.split_first_chunk::<NONCE_LEN>()?;
        let mut plain = sealed.to_vec();
        let (key, aad) = self.bound();
        let nonced = Nonce::assume_unique_for_key(*nonce);
        let length = key.open_in_place(nonced, aad, &mut plain).ok()?.len();
        plain.truncate(length);
        Some(plain)
    }

    fn bound(&self) -> (LessSafeKey, Aad<[u8; 16]>) {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.secret);
        let key = key.expect("a key of its length");
        (LessSafeKey::new(key), Aad::from(self.name))
    }
}

impl fmt::Debug for TicketKeys {
    /// Without the keys, which a log must not have.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TicketKeys")
    }
}

fn random<const LENGTH: usize>() -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

/// The time that both servers have.
fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_opened_with_its_key_and_unchanged() {
        let tickets = SessionTickets::new(None).expect("random numbers");
        let ticket = tickets.encrypt(b"session").expect("sealed");
        assert_eq!(tickets.decrypt(&ticket).as_deref(), Some(&b"session"[..]));
        for length in 0..ticket.len() {
            assert_eq!(tickets.decrypt(&ticket[..length]), None);
        }
        for index in 0..ticket.len() {
            let mut other = ticket.clone();
            other[index] ^= 1;
            assert_eq!(tickets.decrypt(&other), None);
        }
        let stranger = SessionTickets::new(None).expect("random numbers");
        assert_eq!(stranger.decrypt(&ticket), None);
    }

    #[test]
    fn another_server_opens_tickets_with_the_keys_that_it_was_handed() {
        let old = SessionTickets::new(None).expect("random numbers");
        let ticket = old.encrypt(b"session").expect("sealed");
        let json = serde_json::to_string(&old.keys()).expect("no keys but strings");
        let handed = serde_json::from_str(&json).expect("keys");
        let new = SessionTickets::new(handed).expect("keys");
        assert!(new.decrypt(&ticket).is_some());
        assert_eq!(format!("{new:?}").find("secret"), None);
    }

    #[test]
    fn a_key_makes_tickets_for_a_period_and_opens_them_for_another() {
        let period = u64::from(PERIOD);
        let made = TicketKeys::new(0).expect("random numbers");
        let ticket = made.current.seal(b"session").expect("sealed");
        for (now, is_current, is_opened) in [
            (period - 1, true, true),
            (period, false, true),
            (2 * period - 1, false, true),
            (2 * period, false, false),
        ] {
            let mut keys = made.clone();
            keys.replace(now).expect("random numbers");
            assert_eq!(keys.current == made.current, is_current, "{now}");
            assert_eq!(keys.open(&ticket).is_some(), is_opened, "{now}");
        }
    }
}
