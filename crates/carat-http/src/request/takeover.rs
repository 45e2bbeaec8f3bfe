use std::mem::{replace, take};
use std::sync::Arc;
use std::time::SystemTime;

use carat_guard::GuardError;
use http::StatusCode;
use http::header::{CONNECTION, DATE};
use http::response::Parts;
use tokio::sync::Semaphore;

use crate::request::access::AccessEntry;
use crate::request::request_context::RequestContext;
use carat_exchange::{
    ConnectionState, Refusal, Reply, ReplyContent, RequestTimes, Takeover, Tunnel, TunnelLog,
};

/// The replies by which an application takes over its connection.
pub(crate) struct Takeovers {
    /// The permits of tunnels; `None` without `max_tunnels`.
    permits: Option<Arc<Semaphore>>,
}

impl Takeovers {
    /// Takeovers that need a permit each; `None` for any number of them.
    pub(crate) fn new(permits: Option<Arc<Semaphore>>) -> Takeovers {
        Takeovers { permits }
    }

    /// Leaves the connection to the application if the reply takes it over. Returns whether it does. In that case the
    /// connection speaks HTTP no more, and there is no response.
    pub(crate) fn leave(
        &self,
        reply: &mut Result<Reply, Refusal>,
        context: &mut RequestContext,
    ) -> bool {
        if let Some(tunnel) = self.take_tunnel(reply, &context.state) {
            hand_over(tunnel, take(&mut context.entry), &context.state);
            return true;
        }
        let is_success = |reply: &Reply| reply.response.status().is_success();
        if context.state.awaits_tunnel() && reply.as_ref().is_ok_and(is_success) {
            // The client would take the response for the beginning of a tunnel (RFC 8441, section 5).
            *reply = Err(Refusal::Malformed(GuardError::Connect));
        }
        false
    }

    /// Takes the tunnel out of a reply that takes over its connection. The reply is refused if other requests use the
    /// connection, or if `max_tunnels` tunnels are open.
    fn take_tunnel(
        &self,
        reply: &mut Result<Reply, Refusal>,
        state: &ConnectionState,
    ) -> Option<TunnelReply> {
        let response = &mut reply.as_mut().ok()?.response;
        if !matches!(response.body().content, ReplyContent::Tunnel(_)) {
            return None;
        }
        let taken = replace(reply, Err(Refusal::InvalidResponse)).ok()?;
        let (head, body) = taken.response.into_parts();
        let ReplyContent::Tunnel(mut tunnel) = body.content else {
            return None;
        };
        if !state.allows_takeover() {
            return None;
        }
        if let Some(permits) = &self.permits {
            let Ok(permit) = Arc::clone(permits).try_acquire_owned() else {
                *reply = Err(Refusal::TooManyTunnels);
                return None;
            };
            tunnel.place.keep(permit);
        }
        Some(TunnelReply {
            tunnel: *tunnel,
            head,
            times: taken.times,
        })
    }
}

/// A reply after which the connection is a tunnel.
struct TunnelReply {
    tunnel: Tunnel,
    head: Parts,
    times: RequestTimes,
}

/// Leaves the connection of a request to a tunnel of the application: HTTP on it ends with this reply.
fn hand_over(reply: TunnelReply, mut entry: AccessEntry, state: &ConnectionState) {
    entry.timed(reply.times);
    entry.responded(reply.head.status);
    state.take_over(Takeover {
        head: (!reply.tunnel.is_raw).then_some(reply.head),
        tunnel: reply.tunnel,
        log: Box::new(entry),
    });
}

/// The status and the headers as HTTP/1.1 sends them. `dispatch` has checked that they contain no line end.
pub(crate) fn head_of_http1(parts: &Parts) -> Vec<u8> {
    let (status, headers) = (parts.status, &parts.headers);
    let phrase = status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {phrase}\r\n", status.as_u16()).into_bytes();
    let mut add = |name: &[u8], value: &[u8]| {
        for part in [name, b": ", value, b"\r\n"] {
            head.extend_from_slice(part);
        }
    };
    for (name, value) in headers {
        add(name.as_ref(), value.as_bytes());
    }
    if !headers.contains_key(CONNECTION) {
        // The connection ends with the tunnel.
        let switches = status == StatusCode::SWITCHING_PROTOCOLS;
        add(b"connection", if switches { b"upgrade" } else { b"close" });
    }
    if !headers.contains_key(DATE) {
        let now = httpdate::fmt_http_date(SystemTime::now());
        add(b"date", now.as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

impl TunnelLog for AccessEntry {
    fn responded(&mut self, status: StatusCode) {
        AccessEntry::responded(self, status);
    }

    fn sent(&mut self, bytes: usize) {
        self.count(bytes);
    }

    fn ended(&mut self, reason: &'static str) {
        AccessEntry::ended(self, reason);
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Response};

    use super::*;

    fn sent(status: u16, headers: &[(&'static str, &'static str)]) -> String {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        for (name, value) in headers {
            let value = HeaderValue::from_static(value);
            response.headers_mut().append(*name, value);
        }
        String::from_utf8(head_of_http1(&response.into_parts().0)).expect("text")
    }

    #[test]
    fn another_protocol_follows_a_head_that_says_so() {
        let headers = [("upgrade", "echo"), ("x", "1"), ("x", "2"), ("date", "now")];
        assert_eq!(
            sent(101, &headers),
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nx: 1\r\nx: 2\r\ndate: now\r\n\
             connection: upgrade\r\n\r\n"
        );
    }

    #[test]
    fn the_end_of_the_connection_ends_what_follows_another_head() {
        let headers = [("date", "now")];
        assert!(sent(200, &headers).ends_with("date: now\r\nconnection: close\r\n\r\n"));
        let own = [("connection", "Upgrade"), ("date", "now")];
        assert_eq!(sent(200, &own).matches("onnection").count(), 1);
    }
}
