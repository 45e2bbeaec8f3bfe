//! A session and a client of rustls, whose bytes arrive in pieces of any size.

use std::io::{Read, Write};
use std::sync::Arc;

use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring as provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};
use rustls::{ServerConfig, SupportedProtocolVersion};

use super::*;

/// A key with a certificate that nobody reads.
#[derive(Debug)]
struct AnyCertificate(Arc<CertifiedKey>);

impl ResolvesServerCert for AnyCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

/// A client that accepts every certificate.
#[derive(Debug)]
struct Credulous;

impl ServerCertVerifier for Credulous {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

fn server_config() -> Arc<ServerConfig> {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random);
    let key = PrivatePkcs8KeyDer::from(key.expect("a key").as_ref().to_vec());
    let key = provider::sign::any_ecdsa_type(&key.into()).expect("a usable key");
    let certificate = CertificateDer::from(vec![0; 700]);
    let certified = Arc::new(CertifiedKey::new(vec![certificate], key));
    let builder = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_no_client_auth();
    Arc::new(builder.with_cert_resolver(Arc::new(AnyCertificate(certified))))
}

fn client(version: &'static SupportedProtocolVersion) -> ClientConnection {
    let builder = ClientConfig::builder_with_provider(Arc::new(provider::default_provider()));
    let builder = builder
        .with_protocol_versions(&[version])
        .expect("it is supported");
    let builder = builder.dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(Credulous));
    let config = Arc::new(builder.with_no_client_auth());
    let name = ServerName::try_from("localhost").expect("a name");
    ClientConnection::new(config, name).expect("a client")
}

/// A session that sends back what it receives, in pieces whose sizes repeat.
struct Echo {
    session: TlsSession,
    /// What it has decrypted.
    content: Vec<u8>,
    pieces: Vec<usize>,
    next: usize,
}

impl Echo {
    fn piece(&mut self, most: usize) -> usize {
        self.next += 1;
        self.pieces[self.next % self.pieces.len()].min(most)
    }

    /// Takes bytes of the client, and answers those that are complete.
    fn receive(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let size = self.piece(bytes.len());
            let room = self.session.room().expect("what is complete was processed");
            let count = size.min(room.capacity() - room.len());
            room.extend_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            while self.session.advance()? == TlsProgress::Plaintext {
                let mut content = [0; 999];
                let mut content = ReadBuf::new(&mut content);
                assert!(self.session.read(&mut content));
                self.content.extend_from_slice(content.filled());
                self.session.encrypt(content.filled())?;
            }
            assert!(self.session.incoming.len() <= INCOMING_LIMIT);
        }
        self.session.release();
        Ok(())
    }

    /// Sends the client what the session has for it, and returns what the client decrypts.
    fn send(&mut self, client: &mut ClientConnection) -> Vec<u8> {
        let mut content = Vec::new();
        while !self.session.unsent().is_empty() {
            let size = self.piece(self.session.unsent().len());
            let mut unsent = &self.session.unsent()[..size];
            let count = client.read_tls(&mut unsent).expect("it is in memory");
            self.session.note_sent(count);
            let state = client.process_new_packets().expect("well formed");
            let start = content.len();
            content.resize(start + state.plaintext_bytes_to_read(), 0);
            let read = client.reader().read_exact(&mut content[start..]);
            read.expect("what it has");
        }
        content
    }
}

fn sent_by(client: &mut ClientConnection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut bytes).expect("it is in memory");
    }
    bytes
}

fn echo(pieces: Vec<usize>) -> Echo {
    Echo {
        session: TlsSession::new(server_config()).expect("a session"),
        content: Vec::new(),
        pieces,
        next: 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_the_cuts_the_bytes_arrive_and_nothing_is_kept(
        is_older: bool,
        pieces in prop::collection::vec(1_usize..9000, 1..9),
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..30_000), 1..4),
    ) {
        let mut echo = echo(pieces);
        let mut client = client(if is_older { &TLS12 } else { &TLS13 });
        while client.is_handshaking() {
            echo.receive(&sent_by(&mut client)).expect("a handshake");
            prop_assert_eq!(echo.send(&mut client), b"");
        }
        for message in &messages {
            client.writer().write_all(message).expect("it is in memory");
            echo.receive(&sent_by(&mut client)).expect("well formed");
            prop_assert_eq!(&echo.send(&mut client), message);
        }
        prop_assert_eq!(echo.session.held_bytes(), 0);
    }

    #[test]
    fn a_byte_that_is_changed_changes_nothing_that_is_decrypted(
        pieces in prop::collection::vec(1_usize..900, 1..9),
        in_handshake: bool,
        index: prop::sample::Index,
        mask in 1_u8..,
    ) {
        let mut echo = echo(pieces);
        let mut client = client(&TLS13);
        while !in_handshake && client.is_handshaking() {
            echo.receive(&sent_by(&mut client)).expect("a handshake");
            echo.send(&mut client);
        }
        if !in_handshake {
            client.writer().write_all(&[7; 3000]).expect("it is in memory");
        }
        let mut bytes = sent_by(&mut client);
        let index = index.index(bytes.len());
        bytes[index] ^= mask;
        // The server accepts any value for a few bytes, such as the version of a record. Not every error has an alert:
        // rustls sends none for a handshake message that is too large.
        if echo.receive(&bytes).is_err() {
            prop_assert!(echo.session.close().is_err());
        }
        prop_assert!([7; 3000].starts_with(&echo.content));
        prop_assert!(echo.session.held_bytes() <= 2 * INCOMING_LIMIT);
    }
}
