//! An upgrade, as the sockets of the cable see it: those of plain connections pass from the old edge to the new one.
//!
//! Two edges have sockets meanwhile, and each client gets each message once, in one order: the old edge makes that order.
//! What is broadcast at the new one goes to the old one first ([`Arrivals`]); it has its own clients sent it, and says
//! when the new one is to do so. What is broadcast at the old one goes to both. Between these two, on the same socket, are
//! the sockets ([`Departures`]), so whatever precedes a socket there is for the old edge to send, and what follows it for
//! the new one.

mod arrivals;
mod departures;
mod edge_link;

use std::rc::Rc;

use carat_cable::{EdgeMessage, OtherEdge};

pub(super) use arrivals::Arrivals;
pub(super) use departures::{Departures, Movable};
pub(crate) use edge_link::EdgeLink;

/// The edges before and after this one.
#[derive(Debug, Default)]
pub(super) struct Neighbors {
    pub(super) arrivals: Arrivals,
    pub(super) departures: Rc<Departures>,
}

impl OtherEdge for Neighbors {
    fn orders(&self, stream: &str, payload: &[u8]) -> bool {
        let is_ordered = self.arrivals.order(stream, payload);
        if !is_ordered {
            let message = payload;
            let broadcast = EdgeMessage::Broadcast { stream, message };
            self.departures.pass_on(&broadcast);
        }
        is_ordered
    }
}
