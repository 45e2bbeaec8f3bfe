use std::{
    io,
    iter::Sum,
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, client::Resumption, crypto::ring as provider,
    pki_types::ServerName, version::TLS13,
};

use crate::any_certificate::AnyCertificate;
use crate::tickets::Tickets;

/// Longer than any handshake takes. A server that loses a client must not stop the benchmark.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after a connection that failed.
const RECONNECT_PAUSE: Duration = Duration::from_millis(5);

/// Connects, with tickets of its own.
#[derive(Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    config: Arc<ClientConfig>,
    tickets: Arc<Tickets>,
}

/// What became of the connections.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count {
    pub(crate) connections: u64,
    pub(crate) resumed: u64,
    pub(crate) failed: u64,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, is_resumed: bool) -> Result<Client, rustls::Error> {
        let tickets = Arc::new(Tickets::new(is_resumed));
        let mut config =
            ClientConfig::builder_with_provider(Arc::new(provider::default_provider()))
                .with_protocol_versions(&[&TLS13])?
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate))
                .with_no_client_auth();
        config.resumption = Resumption::store(Arc::clone(&tickets) as Arc<_>);
        Ok(Client {
            address,
            config: Arc::new(config),
            tickets,
        })
    }

    /// Opens one connection after the other.
    pub(crate) fn connect_until(&self, end: Instant) -> Count {
        let mut count = Count::default();
        while Instant::now() < end {
            if let Ok(is_resumed) = self.connect() {
                count.connections += 1;
                count.resumed += u64::from(is_resumed);
            } else {
                count.failed += 1;
                thread::sleep(RECONNECT_PAUSE);
            }
        }
        count
    }

    /// Opens a connection, waits for a ticket, and closes it. Returns whether it was resumed.
    fn connect(&self) -> io::Result<bool> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        let name = ServerName::IpAddress(self.address.ip().into());
        let config = Arc::clone(&self.config);
        let mut tls = ClientConnection::new(config, name).map_err(io::Error::other)?;
        let arrived = self.tickets.arrived();
        while tls.is_handshaking() || tls.wants_write() {
            tls.complete_io(&mut stream)?;
        }
        while self.tickets.arrived() == arrived {
            if tls.read_tls(&mut stream)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            tls.process_new_packets().map_err(io::Error::other)?;
        }
        let is_resumed = tls.handshake_kind() == Some(HandshakeKind::Resumed);
        tls.send_close_notify();
        tls.write_tls(&mut stream)?;
        Ok(is_resumed)
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |all, one| Count {
            connections: all.connections + one.connections,
            resumed: all.resumed + one.resumed,
            failed: all.failed + one.failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::{ServerConfig, ServerConnection, Stream};

    use super::*;

    /// A key with a certificate that nobody reads.
    #[derive(Debug)]
    struct OneKey(Arc<CertifiedKey>);

    impl ResolvesServerCert for OneKey {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    fn server_config(tickets: usize) -> Arc<ServerConfig> {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
        let key = PrivatePkcs8KeyDer::from(key.expect("a key").as_ref().to_vec());
        let key = provider::sign::any_ecdsa_type(&key.into()).expect("a usable key");
        let certified = CertifiedKey::new(vec![CertificateDer::from(vec![0; 700])], key);
        let builder = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_protocol_versions(&[&TLS13]);
        let builder = builder.expect("a version").with_no_client_auth();
        let mut config = builder.with_cert_resolver(Arc::new(OneKey(Arc::new(certified))));
        config.send_tls13_tickets = tickets;
        Arc::new(config)
    }

    /// Serves so many clients until each one closes, and returns what became of their connections.
    fn connect_to(tickets: usize, is_resumed: bool, clients: usize) -> Vec<io::Result<bool>> {
        let config = server_config(tickets);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..clients {
                    let (mut tcp, _) = listener.accept().expect("a client");
                    let tls = ServerConnection::new(Arc::clone(&config));
                    let mut tls = tls.expect("a session");
                    tls.complete_io(&mut tcp).expect("a handshake");
                    if tickets == 0 {
                        continue;
                    }
                    let end = Stream::new(&mut tls, &mut tcp).read(&mut [0; 1]);
                    assert_eq!(end.expect("a close_notify"), 0);
                }
            });
            let client = Client::new(address, is_resumed).expect("a client");
            (0..clients).map(|_| client.connect()).collect()
        })
    }

    #[test]
    fn every_connection_but_the_first_is_resumed_if_it_is_to_be() {
        let kinds = |is_resumed| -> io::Result<Vec<bool>> {
            connect_to(1, is_resumed, 3).into_iter().collect()
        };
        assert_eq!(kinds(true).expect("connections"), [false, true, true]);
        assert_eq!(kinds(false).expect("connections"), [false; 3]);
    }

    #[test]
    fn a_connection_without_a_ticket_has_failed() {
        assert!(connect_to(0, false, 1)[0].is_err());
    }
}
