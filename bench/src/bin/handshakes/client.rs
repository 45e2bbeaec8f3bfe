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
