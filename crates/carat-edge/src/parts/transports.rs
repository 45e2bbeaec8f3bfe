//! The list of the transports: what a listener may have between its socket and requests. Transports
//! are made before parts, since addresses are bound as root.

use std::rc::Rc;

use carat_http::Transport;
#[cfg(all(feature = "http2", feature = "tls"))]
use carat_http2::offered_protocols;
use carat_settings::Settings;

/// The transports that are built in. Plain sockets need none.
pub(crate) struct Transports {
    #[cfg(feature = "tls")]
    pub(super) tls: Rc<carat_tls::TlsTransport>,
}

impl Transports {
    /// The transports of a server that is about to listen.
    #[cfg_attr(
        not(feature = "tls"),
        allow(unused_variables, reason = "none is built in")
    )]
    pub(crate) fn new(settings: &Settings) -> Transports {
        Transports {
            #[cfg(feature = "tls")]
            tls: carat_tls::TlsTransport::new(settings, offered_protocols(settings)),
        }
    }

    /// The transports for listeners.
    #[cfg(feature = "tls")]
    pub(crate) fn list(&self) -> Vec<Rc<dyn Transport>> {
        vec![Rc::clone(&self.tls) as Rc<dyn Transport>]
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "none is built in")]
    pub(crate) fn list(&self) -> Vec<Rc<dyn Transport>> {
        Vec::new()
    }
}

/// The names of the protocols that clients of a transport may choose instead of HTTP/1.1. No part
/// can be asked for them, since listeners are bound before there are parts.
#[cfg(all(feature = "tls", not(feature = "http2")))]
fn offered_protocols(_settings: &Settings) -> &'static [&'static str] {
    &[]
}
