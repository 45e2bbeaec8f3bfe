use std::rc::Rc;

use super::connection::serve_http2;
use crate::guard::PREFACE;
use crate::part::http2::Http2;
use carat_http::{EdgeCore, Part, Protocol, ProtocolConnection, ServingProtocol};
use carat_log::Log;
use carat_settings::Settings;

/// The name of HTTP/2 in a TLS handshake (RFC 9113, section 3.2).
const TOKEN: &str = "h2";

/// The part of HTTP/2, if the settings ask for it.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    core.settings.parts.http2.enabled.then(|| {
        let (protocol, log) = (Rc::new(Http2::new(&core.settings)), Rc::clone(&core.log));
        Box::new(Http2Part { protocol, log }) as Box<dyn Part>
    })
}

/// The names by which an encrypted connection chooses HTTP/2, if the settings allow it.
pub fn offered_protocols(settings: &Settings) -> &'static [&'static str] {
    if settings.parts.http2.enabled {
        &[TOKEN]
    } else {
        &[]
    }
}

/// HTTP/2 as a part of the edge.
struct Http2Part {
    protocol: Rc<Http2>,
    log: Rc<Log>,
}

impl Part for Http2Part {
    fn name(&self) -> &'static str {
        "http2"
    }

    fn sees_requests(&self) -> bool {
        false
    }

    fn protocol(&self) -> Option<Rc<dyn Protocol>> {
        Some(Rc::<Http2>::clone(&self.protocol))
    }

    fn tick(&self) {
        self.protocol.report(&self.log);
    }
}

impl Protocol for Http2 {
    fn name(&self) -> &'static str {
        "http/2"
    }

    fn token(&self) -> &'static str {
        TOKEN
    }

    fn preface(&self) -> &'static [u8] {
        PREFACE
    }

    fn serve(self: Rc<Self>, connection: ProtocolConnection) -> ServingProtocol {
        Box::pin(serve_http2(self, connection))
    }
}
