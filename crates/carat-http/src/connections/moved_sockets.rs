use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;

use carat_cable::EdgeMessage;
use carat_dispatch::FrameSocket;
use carat_exchange::ConnectionState;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_local;

use crate::cable::{ArrivedSocket, Cable};
use crate::connection_permits::ConnectionPermit;
use crate::connections::connection::tunnel;
use crate::server::Server;
use crate::tunnels::TunnelEnds;

/// A place for a socket of the cable that comes from the old edge.
struct ArrivalPlace {
    client: ConnectionPermit,
    /// `None` without `max_tunnels`.
    tunnel: Option<OwnedSemaphorePermit>,
}

/// Takes the sockets of the cable over that the old edge hands over. It says so on `link`.
pub fn follow_cable(server: &Rc<Server>, link: UnixStream) -> io::Result<()> {
    let Some(cable) = server.cable().map(Rc::clone) else {
        return Ok(());
    };
    let socket = FrameSocket::new(link)?;
    let server = Rc::clone(server);
    let link = cable.follow();
    spawn_local(async move {
        let mut places = Vec::new();
        let receive = |message: EdgeMessage<'_>, socket: Option<OwnedFd>| {
            match message {
                EdgeMessage::Offer(count) => {
                    places = reserve(&server, &cable, count);
                    let room = u32::try_from(places.len()).unwrap_or(u32::MAX);
                    link.send(&EdgeMessage::Room(room), None);
                }
                EdgeMessage::Socket(record) => {
                    if let (Some(place), Some(socket)) = (places.pop(), socket) {
                        serve_moved(&server, &cable, place, (record, socket));
                    }
                }
                EdgeMessage::Moved => places = Vec::new(),
                message => return cable.hear(message),
            }
            true
        };
        link.serve(socket, receive).await;
        cable.end_following();
    });
    Ok(())
}

/// As many places as there are, and are needed.
fn reserve(server: &Server, cable: &Cable, count: u32) -> Vec<ArrivalPlace> {
    let places = (0..count).map_while(|_| {
        let tunnel = cable.permits().map(Arc::clone);
        let tunnel = tunnel.map(Semaphore::try_acquire_owned);
        Some(ArrivalPlace {
            tunnel: tunnel.transpose().ok()?,
            client: server.permits.take_now()?,
        })
    });
    places.collect()
}

/// Serves a socket from where the old edge has left it.
fn serve_moved(
    server: &Rc<Server>,
    cable: &Rc<Cable>,
    place: ArrivalPlace,
    moved: (&[u8], OwnedFd),
) {
    let state = Rc::new(ConnectionState::new(server.client_memory().account()));
    state.begin_message();
    let permits = (place.client.reply, place.tunnel);
    let arrived = cable.resume(moved, permits, &state);
    let arrived = arrived.and_then(|arrived| {
        let ArrivedSocket { stream, .. } = arrived;
        let bytes = (arrived.received, arrived.unsent);
        let ends = TunnelEnds::resumed(arrived.takeover, bytes, state);
        Some((stream, ends.ok()?))
    });
    let Some((stream, ends)) = arrived else {
        return server.log.error("invalid socket of the old edge", &[]);
    };
    let (server, connected) = (Rc::clone(server), place.client.connection);
    spawn_local(async move {
        let _connected = connected;
        let deadline = Rc::new(server.deadlines.deadline());
        tunnel(stream, ends, &deadline, &server).await;
    });
}
