use std::rc::Rc;

use carat_guard::PREFACE;

use super::connection::serve_http2;
use crate::http2::Http2;
use crate::parts::{EdgeCore, Part, Protocol, ProtocolConnection, ServingProtocol};
use carat_log::Log;

/// The part of HTTP/2, if the settings ask for it.
pub fn part(core: &EdgeCore) -> Option<Box<dyn Part>> {
    core.settings.parts.http2.enabled.then(|| {
        let (protocol, log) = (Rc::new(Http2::new(&core.settings)), Rc::clone(&core.log));
        Box::new(Http2Part { protocol, log }) as Box<dyn Part>
    })
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
        "h2"
    }

    fn preface(&self) -> &'static [u8] {
        PREFACE
    }

    fn serve(self: Rc<Self>, connection: ProtocolConnection) -> ServingProtocol {
        Box::pin(serve_http2(self, connection))
    }
}
