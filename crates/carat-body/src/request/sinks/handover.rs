use std::rc::Rc;

use carat_exchange::{BodySender, ConnectionState};

/// Forwards pieces of a body as fast as the application reads them.
pub struct Handover {
    sender: BodySender,
    connection: Rc<ConnectionState>,
}

impl Handover {
    pub(crate) fn new(sender: BodySender, connection: Rc<ConnectionState>) -> Handover {
        Handover { sender, connection }
    }

    /// Forwards a piece, or drops it when the body is not read any more.
    pub(crate) async fn take(&self, mut data: &[u8]) {
        while !data.is_empty() {
            let Some(room) = self.room().await else {
                return;
            };
            let (piece, rest) = data.split_at(room.min(data.len()));
            self.sender.send(piece);
            data = rest;
        }
    }

    /// Waits until the application accepts bytes. Meanwhile the client's timeout does not run.
    pub(crate) async fn room(&self) -> Option<usize> {
        self.connection.body.pause(self.sender.is_full());
        let room = self.sender.room().await;
        self.connection.body.pause(false);
        room
    }

    /// Ends the body that the application reads, because it is complete.
    pub(crate) fn end(&self) {
        self.sender.end();
    }
}
