use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use tokio::sync::Notify;

/// Requests at the application whose responses other requests wait for, since they would get the
/// same ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Flights(Rc<RefCell<FlightsByKey>>);

type FlightsByKey = HashMap<Rc<[u8]>, Rc<Flight>>;

/// A request that others may wait for.
#[derive(Debug, Default)]
pub(super) struct Flight {
    over: Notify,
    is_over: Cell<bool>,
    has_landed: Cell<bool>,
}

/// The request that goes to the application. Dropping it ends the wait of the others.
pub(super) struct Lead {
    flights: Flights,
    key: Rc<[u8]>,
    flight: Rc<Flight>,
}

/// The role of a request among those that are alike: the first one leads, and the others wait for it.
pub(super) enum Joined {
    Leads(Lead),
    Waits(Rc<Flight>),
}

impl Flights {
    /// Joins the requests with this key. The first one leads.
    pub(super) fn join(&self, key: Vec<u8>) -> Joined {
        if let Some(flight) = self.0.borrow().get(&key[..]) {
            return Joined::Waits(Rc::clone(flight));
        }
        let (key, flight) = (Rc::from(key), Rc::<Flight>::default());
        let mut flights = self.0.borrow_mut();
        flights.insert(Rc::clone(&key), Rc::clone(&flight));
        Joined::Leads(Lead {
            flights: self.clone(),
            key,
            flight,
        })
    }
}

impl Flight {
    /// Waits until the leading request has ended. Returns whether it got a response, of whatever
    /// kind.
    pub(super) async fn landed(&self) -> bool {
        if !self.is_over.get() {
            self.over.notified().await;
        }
        self.has_landed.get()
    }
}

impl Lead {
    /// Ends the wait of the other requests: a response has come.
    pub(super) fn land(self) {
        self.flight.has_landed.set(true);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.flights.0.borrow_mut().remove(&self.key);
        self.flight.is_over.set(true);
        self.flight.over.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(flights: &Flights, key: &str) -> Joined {
        flights.join(key.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn the_first_one_leads_and_its_end_ends_the_wait_of_all() {
        let flights = Flights::default();
        for lands in [true, false] {
            let Joined::Leads(lead) = join(&flights, "a") else {
                panic!("it is the first")
            };
            assert!(matches!(join(&flights, "b"), Joined::Leads(_)));
            let (Joined::Waits(one), Joined::Waits(other)) =
                (join(&flights, "a"), join(&flights, "a"))
            else {
                panic!("they are not the first")
            };
            let end = async {
                tokio::task::yield_now().await;
                if lands { lead.land() } else { drop(lead) }
            };
            let (landed, ()) = tokio::join!(one.landed(), end);
            assert_eq!((landed, other.landed().await), (lands, lands));
        }
        assert!(flights.0.borrow().is_empty());
    }
}
