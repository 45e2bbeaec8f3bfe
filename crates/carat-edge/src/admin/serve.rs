use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::task::spawn_local;

use super::clients::{AdminClient, AdminClients, Responder};
use super::control_directory::choose;
use super::control_listener::ControlListener;
use super::memory::MemoryReader;
use super::reply::{outcome, refusal, response};
use super::route::{NoRoute, Route};
use super::socket_name::SocketName;
use super::stale_sockets::remove_stale_sockets;
use crate::supervise::{ControlRequest, Mailbox, Message, Predecessor, ProfileMessage};
use carat_files::CONFIGURATION_THREADS;
use carat_http::{AdminDoor, PartList, Server};
use carat_settings::Settings;

/// How long the client of an upgrade may wait. An upgrade has a shorter limit of its own.
const UPGRADE_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Serves the control socket until the server ends or another edge answers in its place. Without the socket, the server
/// runs, too. Tells the old edge of an upgrade when this edge answers.
pub(crate) async fn administer(
    server: &Server,
    mailbox: &Mailbox,
    predecessor: Option<&Predecessor>,
) {
    let log = server.log();
    let old = predecessor.and_then(|it| it.left.control_socket.as_deref());
    let bound = bind(server.settings(), old);
    if let Some(predecessor) = predecessor {
        predecessor.say_settled();
    }
    match bound {
        Ok(listener) => {
            let reader = MemoryReader::new(server, mailbox.clone());
            let mailbox = mailbox.clone();
            let clients = Rc::new(AdminClients::default());
            let resources = Rc::new(Resources {
                reader,
                mailbox,
                parts: Rc::clone(server.parts()),
            });
            tokio::select! {
                failure = clients.accept_all("control socket", log, async || listener.accept().await, resources) => {
                    log.warn("the control socket is broken", &[("cause", &failure)]);
                }
                // Once another edge has taken over, commands find its socket, which has another name or has replaced
                // this file.
                () = server.life().until_left(), if server.settings().control_socket.is_none() => {}
            }
        }
        Err(error) => log.warn(
            "no control socket: commands such as `carat memory` will not find this server",
            &[("cause", &error)],
        ),
    }
}

/// Binds the socket that the options name. Without such an option, binds one in a private directory, and removes the
/// sockets of dead servers from it.
fn bind(settings: &Settings, old: Option<&Path>) -> io::Result<ControlListener> {
    if let Some(path) = &settings.control_socket {
        return if old == Some(path) {
            ControlListener::replace(path)
        } else {
            ControlListener::bind(path)
        };
    }
    let directory = choose(&settings.launch.control_directories)?;
    let name = SocketName::new(&settings.launch.control_socket_name);
    let path = directory.join(name.of(std::process::id()));
    spawn_local(CONFIGURATION_THREADS.run(move || remove_stale_sockets(&directory, &name)));
    ControlListener::bind(&path)
}

/// The sources from which requests are answered.
struct Resources {
    reader: MemoryReader,
    mailbox: Mailbox,
    parts: Rc<PartList>,
}

impl Responder for Resources {
    async fn respond(
        &self,
        request: &mut Request<Incoming>,
        client: &AdminClient,
    ) -> Response<Full<Bytes>> {
        let (status, json) = match Route::find(request.method(), request.uri()) {
            Ok(Route::Memory) => match self.reader.read().await {
                Ok(json) => (StatusCode::OK, json),
                Err(status) => return refusal(status),
            },
            Ok(Route::Stacks) => match self.mailbox.ask(Message::AskStacks).await {
                Some(stacks) => (StatusCode::OK, stacks.to_string()),
                None => return refusal(StatusCode::SERVICE_UNAVAILABLE),
            },
            Ok(Route::Profile(order)) => {
                client.extend(order.takes_at_most());
                // The lease is dropped only after the reply. The supervisor then finds no waiting client, and abandons
                // no profile.
                let lease = ProfileLease(self.mailbox.clone());
                let begin = |asker| Message::Profile(ProfileMessage::Begin(order, asker));
                outcome(lease.0.ask(begin).await)
            }
            Ok(Route::Control(request)) => {
                if let ControlRequest::Upgrade = request {
                    client.extend(UPGRADE_LIMIT);
                }
                let ask = |asker| Message::Control(request, asker);
                let reply = self.mailbox.ask(ask).await;
                outcome(reply.map(|reply| reply.map(|json| json.to_string())))
            }
            Err(no_route) => {
                let part = self.parts.at(request.uri().path());
                let Some(part) = part.filter(|_| no_route == NoRoute::NotFound) else {
                    return no_resource(no_route);
                };
                return part.administer(request, AdminDoor::ControlSocket).await;
            }
        };
        response(status, "application/json", json)
    }
}

fn no_resource(no_route: NoRoute) -> Response<Full<Bytes>> {
    let mut response = refusal(no_route.status());
    if let NoRoute::NotAllowed(methods) = no_route {
        let methods = HeaderValue::from_static(methods);
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}

/// Tells the supervisor when the client leaves before it has its profile.
struct ProfileLease(Mailbox);

impl Drop for ProfileLease {
    fn drop(&mut self) {
        self.0.send(Message::Profile(ProfileMessage::Abandoned));
    }
}
