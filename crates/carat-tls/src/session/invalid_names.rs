//! Clients whose SNI is no host name, such as `localhost:8443` from `hey`, get the certificate of clients that name no
//! server, as with nginx. rustls would end their handshake, and has no setting for it.
//!
//! Both sides hash the hello, so it cannot simply be changed for rustls. Instead, the type of the
//! extension becomes one that rustls passes over, and the hash of the handshake gets the bytes that
//! the client sent.

use std::ops::Range;
use std::sync::LazyLock;

use rustls::crypto::hash::{Context, Hash, HashAlgorithm, Output};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::ServerName;
use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};

/// Bytes of the header of a record (RFC 8446, section 5.1).
const RECORD_HEADER: usize = 5;
/// The type of a record with messages of the handshake.
const HANDSHAKE: u8 = 22;
/// A whole record that a client may send before its second hello.
const CHANGE_CIPHER_SPEC: [u8; 6] = [20, 3, 3, 0, 1, 1];
/// The type of the message `ClientHello`.
const CLIENT_HELLO: u8 = 1;
/// Bytes of a hello before its session: type, length, version, random.
const HELLO_START: usize = 38;
/// The type of the extension with the name of the server (SNI).
const SERVER_NAME: [u8; 2] = [0, 0];
const PROTOCOLS: [u8; 2] = [0, 16];
/// A type for private use (RFC 8447, section 7). A client that sends this type itself makes its own
/// handshake fail.
const HIDDEN_NAME: [u8; 2] = [0xff, 0x5f];

static SUITES: LazyLock<Vec<SupportedCipherSuite>> = LazyLock::new(|| {
    let suites = ring::default_provider().cipher_suites;
    suites.into_iter().map(suite).collect()
});

/// The provider whose hash of a handshake knows hidden names.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: SUITES.clone(),
        ..ring::default_provider()
    }
}

/// Hides the name in a hello that has come as a whole, in one record at the beginning of these bytes, if it is no host
/// name.
pub(crate) fn hide(records: &mut [u8]) {
    let Some(place) = hello(records) else {
        return;
    };
    let hello = &mut records[place];
    if let Some(at) = extension(hello, SERVER_NAME).filter(|at| is_invalid(hello, *at)) {
        hello[at..at + 2].copy_from_slice(&HIDDEN_NAME);
    }
}

/// The name that a client asks for, in a hello that has come as a whole, in one record at the beginning of these bytes.
/// `None` if the client offers `protocol`.
pub(crate) fn asked_name<'a>(records: &'a [u8], protocol: &[u8]) -> Option<&'a [u8]> {
    let hello = records.get(hello(records)?)?;
    let offers = |at: usize| {
        let list = hello.get(at + 4..)?.get(..length(hello, at + 2)?)?;
        let mut parts = list.windows(protocol.len());
        Some(parts.any(|part| part == protocol))
    };
    if extension(hello, PROTOCOLS).and_then(offers) == Some(true) {
        return None;
    }
    name(hello, extension(hello, SERVER_NAME)?)
}

/// Where a hello is that has come as a whole.
fn hello(records: &[u8]) -> Option<Range<usize>> {
    // A client that is asked for another hello sends a record before it (RFC 8446, appendix D.4).
    let begin = if records.first() == Some(&CHANGE_CIPHER_SPEC[0]) {
        CHANGE_CIPHER_SPEC.len()
    } else {
        0
    };
    let header = records.get(begin..)?.first_chunk::<RECORD_HEADER>()?;
    let [HANDSHAKE, _, _, high, low] = *header else {
        return None;
    };
    let begin = begin + RECORD_HEADER;
    let place = begin..begin + usize::from(u16::from_be_bytes([high, low]));
    (place.end <= records.len()).then_some(place)
}

/// The offset at which the type of this extension begins in a hello. The hello may be incomplete.
fn extension(hello: &[u8], kind: [u8; 2]) -> Option<usize> {
    let short = |at: usize| Some(1 + usize::from(*hello.get(at)?));
    let is_hello = hello.first() == Some(&CLIENT_HELLO);
    let mut at = is_hello.then_some(HELLO_START)?;
    // The session, cipher suites, compression, and the length of all extensions.
    at += short(at)?;
    at += 2 + length(hello, at)?;
    at += short(at)? + 2;
    while *hello.get(at..at + 2)? != kind {
        at += 4 + length(hello, at + 2)?;
    }
    Some(at)
}

/// The first name of the extension at this place (RFC 6066, section 3).
fn name(hello: &[u8], at: usize) -> Option<&[u8]> {
    let begin = at + 9;
    hello.get(begin..begin + length(hello, at + 7)?)
}

/// Whether the extension at this place has one name, which is neither a host's nor an address.
fn is_invalid(hello: &[u8], at: usize) -> bool {
    name(hello, at).is_some_and(|name| !name.is_empty() && ServerName::try_from(name).is_err())
}

fn length(hello: &[u8], at: usize) -> Option<usize> {
    let bytes = hello.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes(bytes)))
}

fn suite(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    match suite {
        SupportedCipherSuite::Tls12(suite) => {
            SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
                common: common(&suite.common),
                prf_provider: suite.prf_provider,
                kx: suite.kx,
                sign: suite.sign,
                aead_alg: suite.aead_alg,
            })))
        }
        SupportedCipherSuite::Tls13(suite) => {
            SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
                common: common(&suite.common),
                hkdf_provider: suite.hkdf_provider,
                aead_alg: suite.aead_alg,
                quic: suite.quic,
            })))
        }
    }
}

/// The fields that a suite has in either version of TLS, with the hash that knows hidden names.
/// `common` is called once for each suite; what it makes is never freed.
fn common(common: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        suite: common.suite,
        hash_provider: Box::leak(Box::new(HandshakeHash(common.hash_provider))),
        confidentiality_limit: common.confidentiality_limit,
    }
}

/// The hash of handshakes, which gets the bytes that the client sent.
struct HandshakeHash(&'static dyn Hash);

struct HandshakeContext(Box<dyn Context>);

impl Hash for HandshakeHash {
    fn start(&self) -> Box<dyn Context> {
        Box::new(HandshakeContext(self.0.start()))
    }

    fn hash(&self, data: &[u8]) -> Output {
        let mut context = self.start();
        context.update(data);
        context.finish()
    }

    fn output_len(&self) -> usize {
        self.0.output_len()
    }

    fn algorithm(&self) -> HashAlgorithm {
        self.0.algorithm()
    }
}

impl Context for HandshakeContext {
    fn fork_finish(&self) -> Output {
        self.0.fork_finish()
    }

    fn fork(&self) -> Box<dyn Context> {
        Box::new(HandshakeContext(self.0.fork()))
    }

    fn finish(self: Box<Self>) -> Output {
        self.0.finish()
    }

    /// Adds bytes to the hash. rustls adds each message as a whole, except the part of a hello that
    /// the key of a ticket signs.
    fn update(&mut self, data: &[u8]) {
        let Some(at) = extension(data, HIDDEN_NAME) else {
            return self.0.update(data);
        };
        self.0.update(&data[..at]);
        self.0.update(&SERVER_NAME);
        self.0.update(&data[at + 2..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with a hello of these extensions.
    fn record(extensions: &[([u8; 2], &[u8])]) -> Vec<u8> {
        let bytes = |length: usize| u16::try_from(length).expect("short").to_be_bytes();
        let all: Vec<u8> = extensions
            .iter()
            .flat_map(|(kind, value)| [&kind[..], &bytes(value.len()), value].concat())
            .collect();
        let mut hello = vec![CLIENT_HELLO; HELLO_START];
        hello.extend([2, 7, 7, 0, 2, 0x13, 1, 1, 0]);
        hello.extend(bytes(all.len()));
        hello.extend(all);
        [&[HANDSHAKE, 3, 1][..], &bytes(hello.len()), &hello].concat()
    }

    fn named(name: &[u8]) -> Vec<u8> {
        let length = u8::try_from(name.len()).expect("short");
        let list = [&[0, length + 3, 0, 0, length][..], name].concat();
        record(&[([0, 16], b"alpn"), (SERVER_NAME, &list), ([0, 43], b"x")])
    }

    fn hidden(mut record: Vec<u8>) -> Vec<u8> {
        hide(&mut record);
        record
    }

    #[test]
    fn what_is_no_host_name_is_hidden_and_hashed_as_it_was() {
        for name in ["localhost:21401", "a..b", "\u{e9}", "-", " "] {
            let sent = named(name.as_bytes());
            let seen = hidden(sent.clone());
            let hello = &seen[RECORD_HEADER..];
            assert!(extension(hello, SERVER_NAME).is_none(), "{name}");
            assert_eq!(seen.len(), sent.len());
            let again = hidden([&CHANGE_CIPHER_SPEC[..], &sent].concat());
            assert_eq!(again[CHANGE_CIPHER_SPEC.len()..], seen);
            for suite in &*SUITES {
                let hash = match suite {
                    SupportedCipherSuite::Tls12(suite) => suite.common.hash_provider,
                    SupportedCipherSuite::Tls13(suite) => suite.common.hash_provider,
                };
                let (found, expected) = (hash.hash(hello), hash.hash(&sent[RECORD_HEADER..]));
                assert_eq!(found.as_ref(), expected.as_ref(), "{name}");
            }
        }
    }

    #[test]
    fn the_name_is_read_from_a_whole_hello_unless_an_authority_sends_it() {
        let asked = |records: &[u8]| asked_name(records, b"acme-tls/1").map(<[u8]>::to_vec);
        let sent = named(b"a.example");
        assert_eq!(asked(&sent).as_deref(), Some(&b"a.example"[..]));
        let again = [&CHANGE_CIPHER_SPEC[..], &sent].concat();
        assert_eq!(asked(&again).as_deref(), Some(&b"a.example"[..]));
        for length in 0..sent.len() {
            assert_eq!(asked(&sent[..length]), None);
        }
        for mut cut in [sent.clone(), again] {
            let last = cut.len() - 1;
            for index in 0..last {
                cut[index] ^= 0xff;
                asked(&cut);
            }
        }
        let list = [&[0, 12, 0, 0, 9][..], b"a.example"].concat();
        let validates = record(&[(SERVER_NAME, &list), (PROTOCOLS, b"\0\x0b\x0aacme-tls/1")]);
        assert_eq!(asked(&validates), None);
        assert_eq!(asked(&record(&[(PROTOCOLS, b"\0\x03\x02h2")])), None);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for name in [
            "localhost",
            "a.example",
            "127.0.0.1",
            "::1",
            "xn--e1a.example",
            "",
        ] {
            let sent = named(name.as_bytes());
            assert_eq!(hidden(sent.clone()), sent, "{name}");
        }
        let whole = named(b"a..b");
        for length in 0..whole.len() {
            let mut part = whole[..length].to_vec();
            hide(&mut part);
            assert_eq!(part, whole[..length]);
        }
        for kind in [0, 21, 23] {
            let mut other = whole.clone();
            other[0] = kind;
            assert_eq!(hidden(other.clone()), other);
        }
    }
}
