use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::console_socket::ConsoleSocket;
use crate::supervise::{Mailbox, Message, OneOffMessage, OneOffOrder, OneOffReport};
use carat_supervisor::{AppEvent, AppProcessId, Event};

/// The name of the processes of consoles.
const NAME: &str = "console";

/// How long a client may take to say what it wants.
const ORDER_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves a client until its console has ended.
pub(super) async fn attend(upgrade: OnUpgrade, mailbox: Mailbox) {
    let accept = async {
        let mut socket = ConsoleSocket::accept(upgrade).await?;
        let order = socket.order().await;
        Some((socket, order))
    };
    let Ok(Some((mut socket, order))) = timeout(ORDER_TIMEOUT, accept).await else {
        return;
    };
    let (reports, reported) = mpsc::unbounded_channel();
    let opened = match order {
        Ok((order, descriptors)) => {
            let order = OneOffOrder {
                name: NAME,
                order,
                descriptors,
                reports,
            };
            open(&mailbox, order).await
        }
        Err(cause) => Err(cause.to_owned()),
    };
    match opened {
        Ok(id) => follow(id, &mut socket, reported, &mailbox).await,
        Err(cause) => socket.report(OneOffReport::Ended(Err(cause))).await,
    }
}

async fn open(mailbox: &Mailbox, order: OneOffOrder) -> Result<AppProcessId, String> {
    let (asker, reply) = oneshot::channel();
    mailbox.send(Message::OneOff(OneOffMessage::Open(order, asker)));
    let gone = |_| Err("the server is about to exit".to_owned());
    reply.await.unwrap_or_else(gone)
}

/// Passes reports to the client, and signals to the console.
async fn follow(
    id: AppProcessId,
    socket: &mut ConsoleSocket,
    mut reported: mpsc::UnboundedReceiver<OneOffReport>,
    mailbox: &Mailbox,
) {
    let mut has_client = true;
    loop {
        tokio::select! {
            report = reported.recv() => {
                // Without the supervisor the edge is about to exit.
                let Some(report) = report else { return };
                let is_last = matches!(report, OneOffReport::Ended(_));
                socket.report(report).await;
                if is_last {
                    return;
                }
            }
            signal = socket.signal(), if has_client => {
                if let Some(signal) = signal {
                    let (done, is_done) = oneshot::channel();
                    mailbox.send(Message::OneOff(OneOffMessage::Signal(id, signal, done)));
                    // The next signal is read once the supervisor has handled this one.
                    let _ = is_done.await;
                } else {
                    has_client = false;
                    mailbox.event(Event::App(AppEvent::OneOffLeft(id)));
                }
            },
        }
    }
}
