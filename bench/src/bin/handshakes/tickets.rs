use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use rustls::{
    NamedGroup,
    client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue},
    pki_types::ServerName,
};

/// Counts the tickets that arrive, and keeps the last one if it is to be shown.
#[derive(Debug)]
pub(crate) struct Tickets {
    is_kept: bool,
    last: Mutex<Option<Tls13ClientSessionValue>>,
    arrived: AtomicUsize,
}

impl Tickets {
    pub(crate) fn new(is_kept: bool) -> Tickets {
        Tickets {
            is_kept,
            last: Mutex::default(),
            arrived: AtomicUsize::new(0),
        }
    }

    pub(crate) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::Relaxed)
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.arrived.fetch_add(1, Ordering::Relaxed);
        if self.is_kept {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(ticket);
        }
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.take()
    }
}
