use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;

use socket2::{Domain, Protocol, Socket, Type};

use carat_files::SocketFile;
use carat_settings::Settings;

use crate::sockets::address::{Address, Place, TransportAddress};
use crate::sockets::listener::{BindValue, Listener, Preamble};
use crate::sockets::listeners::Listeners;
use crate::sockets::transport::{Handshake, Transport};

/// Binds every address of the `bind` option, in order, unless the server inherited the socket. Ports are bound before
/// `become_user`, and Unix sockets afterwards, so that their files belong to the user. An address may have the scheme
/// of one of the `transports`: its connections begin with the handshake of that transport. An error names the address
/// and says what to do.
pub fn bind_all(
    settings: &Settings,
    transports: &[Rc<dyn Transport>],
    inherited: &Listeners,
    become_user: impl FnOnce() -> Result<(), String>,
) -> Result<Vec<Listener>, String> {
    let backlog = settings.backlog;
    let mut listeners = BTreeMap::new();
    let mut paths = Vec::new();
    for (index, text) in settings.bind.iter().enumerate() {
        let address = Address::parse(text)?;
        let bind = bind_value(text, &address, transports)?;
        let sockets = inherited.take(|other| address.is_place_of(text, other));
        if !sockets.is_empty() {
            // A socket of a service manager keeps the backlog that it has.
            let backlog = (address.place != Place::Inherited).then_some(backlog);
            let sockets = sockets.into_iter();
            let taken = sockets.map(|socket| Listener::inherited(&bind, socket, backlog));
            let taken: io::Result<Vec<Listener>> = taken.collect();
            listeners.insert(index, taken.map_err(|error| advise(text, &error))?);
            continue;
        }
        let bound = match address.place {
            Place::Tcp { host, port } => bind_tcp(&bind, &host, port, backlog),
            Place::Unix { path, mode } => {
                paths.push((index, bind, path, mode));
                continue;
            }
            Place::Inherited => {
                let missing = "no listening socket was passed in";
                Err(io::Error::new(io::ErrorKind::NotFound, missing))
            }
        };
        listeners.insert(index, bound.map_err(|error| advise(text, &error))?);
    }
    become_user()?;
    for (index, bind, path, mode) in paths {
        let bound =
            bind_unix(&bind, &path, mode, backlog).map_err(|error| advise(&bind.text, &error))?;
        listeners.insert(index, vec![bound]);
    }
    Ok(listeners.into_values().flatten().collect())
}

fn bind_value(
    text: &str,
    address: &Address,
    transports: &[Rc<dyn Transport>],
) -> Result<BindValue, String> {
    let transport = address.transport.as_ref();
    let handshake = transport.map(|it| open(it, transports)).transpose();
    let preamble = Preamble {
        is_proxied: address.is_proxied,
        handshake: handshake.map_err(|error| format!("{text}: {error}"))?,
    };
    Ok(BindValue {
        text: text.to_owned(),
        preamble: Rc::new(preamble),
    })
}

fn open(
    address: &TransportAddress,
    transports: &[Rc<dyn Transport>],
) -> Result<Rc<dyn Handshake>, String> {
    let mut known = transports.iter();
    let Some(transport) = known.find(|it| it.scheme() == address.scheme) else {
        let known = transports.iter().map(|it| format!(", {}://", it.scheme()));
        let known: String = known.collect();
        return Err(format!(
            "this edge has only addresses of tcp://, unix://, fd://{known}"
        ));
    };
    transport.open(&address.parameters)
}

fn advise(address: &str, error: &io::Error) -> String {
    format!("{address}: {}", advice(error))
}

fn advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "the address is in use: stop the other server or choose another with --bind".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "permission denied: choose a port of 1024 or more or give the service \
             AmbientCapabilities=CAP_NET_BIND_SERVICE; or choose a directory you may write"
                .to_owned()
        }
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        _ => error.to_string(),
    }
}

/// The host that means every address of the machine.
const EVERYWHERE: &str = "*";

/// Binds every address of the host; `localhost` has two.
fn bind_tcp(bind: &BindValue, host: &str, port: u16, backlog: i32) -> io::Result<Vec<Listener>> {
    if host == EVERYWHERE {
        return Ok(vec![Listener::tcp(bind, bind_everywhere(port, backlog)?)?]);
    }
    let mut addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    addresses.dedup();
    let mut listeners = Vec::new();
    let mut port = port;
    for mut address in addresses {
        address.set_port(port);
        match bind_socket(address, backlog) {
            Ok(listener) => {
                // Port 0: all addresses of the host share the port that the first one got.
                port = listener.local_addr()?.port();
                listeners.push(Listener::tcp(bind, listener)?);
            }
            // A machine without IPv6 still resolves `localhost` to ::1.
            Err(error)
                if error.kind() == io::ErrorKind::AddrNotAvailable && !listeners.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(listeners)
}

/// Listens at every address of the machine, which `*` means. A socket of IPv6 accepts IPv4 as well; without IPv6, a
/// socket of IPv4 is used.
pub fn bind_everywhere(port: u16, backlog: i32) -> io::Result<TcpListener> {
    match bind_socket((Ipv6Addr::UNSPECIFIED, port).into(), backlog) {
        Err(error) if lacks_ipv6(&error) => {
            bind_socket((Ipv4Addr::UNSPECIFIED, port).into(), backlog)
        }
        bound => bound,
    }
}

/// Whether this is the error of a machine without IPv6.
fn lacks_ipv6(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

fn bind_socket(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

fn bind_unix(
    bind: &BindValue,
    path: &Path,
    mode: Option<u32>,
    backlog: i32,
) -> io::Result<Listener> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let file = SocketFile::bind(&socket, path)?;
    if let Some(mode) = mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    socket.listen(backlog)?;
    Listener::unix(bind, socket.into(), Some(file))
}

#[cfg(test)]
mod tests {
    use carat_wire::Scheme;
    use tokio::net::TcpStream;

    use super::*;
    use crate::sockets::transport::{ConnectionStart, HandshakeEnd, HandshakeWait};

    /// A transport without any parameter.
    struct Odd;

    impl Transport for Odd {
        fn scheme(&self) -> &'static str {
            "odd"
        }

        fn open(&self, parameters: &[(String, String)]) -> Result<Rc<dyn Handshake>, String> {
            match parameters.first() {
                None => Ok(Rc::new(Odd)),
                Some((name, _)) => Err(format!("{name:?} is not a parameter")),
            }
        }
    }

    impl Handshake for Odd {
        fn scheme(&self) -> Scheme {
            Scheme::Https
        }

        fn begin<'a>(&'a self, _: TcpStream, _: ConnectionStart<'a>) -> HandshakeWait<'a> {
            Box::pin(async { HandshakeEnd::Over })
        }
    }

    fn scheme_of(text: &str, transports: &[Rc<dyn Transport>]) -> Result<Option<Scheme>, String> {
        let address = Address::parse(text).expect("an address");
        let value = bind_value(text, &address, transports)?;
        Ok(value.preamble.handshake.as_ref().map(|it| it.scheme()))
    }

    #[test]
    fn an_address_is_opened_by_the_transport_of_its_scheme() {
        let odd: [Rc<dyn Transport>; 1] = [Rc::new(Odd)];
        assert_eq!(scheme_of("tcp://h:1", &odd), Ok(None));
        assert_eq!(scheme_of("odd://h:1", &odd), Ok(Some(Scheme::Https)));
        for (text, transports, reason) in [
            ("odd://h:1?a=b", &odd[..], "\"a\" is not a parameter"),
            (
                "other://h:1",
                &odd[..],
                "this edge has only addresses of tcp://, unix://, fd://, odd://",
            ),
            (
                "odd://h:1",
                &[],
                "this edge has only addresses of tcp://, unix://, fd://",
            ),
        ] {
            let refused = Err(format!("{text}: {reason}"));
            assert_eq!(scheme_of(text, transports), refused);
        }
    }
}
