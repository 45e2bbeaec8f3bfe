use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderName, HeaderValue, Response};

use carat_dispatch::{Dispatcher, PendingReply};
use carat_exchange::{Call, ProxyFields, Refusal, Reply, ReplyBody, SpoolReservation};

const X_REQUEST_START: HeaderName = HeaderName::from_static("x-request-start");

/// Where requests leave the edge.
#[derive(Debug)]
pub(crate) struct RequestDispatch {
    pub(crate) dispatcher: Rc<Dispatcher>,
    /// Whether the application is told when: the option `request_start`.
    pub(crate) stamps: bool,
}

impl RequestDispatch {
    /// Passes a request to a worker, or to the queue.
    pub(crate) fn dispatch(&self, mut call: Call) -> Result<PendingReply, Refusal> {
        if self.stamps {
            stamp(&mut call);
        }
        self.dispatcher.dispatch(call)
    }

    /// A reply that no worker has made.
    pub(crate) fn own_reply(&self, response: Response<ReplyBody>) -> Reply {
        Reply {
            response,
            spooled: SpoolReservation::of(&self.dispatcher.spool_quota),
            queue_time: Duration::ZERO,
            app_time: Duration::ZERO,
        }
    }
}

/// Tells the application when the request begins to wait for a worker, unless a proxy has told it when the request
/// reached that. A peer that no field is believed from cannot make up a time.
fn stamp(call: &mut Call) {
    let is_believed = call.peer.proxy_fields != ProxyFields::Removed;
    let headers = &mut call.parts.headers;
    if is_believed && headers.contains_key(X_REQUEST_START) {
        return;
    }
    // A clock before 1970 has no time that monitoring could use.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    headers.insert(X_REQUEST_START, value(now));
}

/// Seconds since 1970 with milliseconds, as nginx writes `t=${msec}`.
fn value(now: Duration) -> HeaderValue {
    let text = format!("t={}.{:03}", now.as_secs(), now.subsec_millis());
    HeaderValue::try_from(text).expect("made of ASCII letters, digits, and signs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamped(fields: ProxyFields, given: Option<&'static str>) -> String {
        let mut call = Call::plain("GET", "/");
        Rc::get_mut(&mut call.peer).expect("unshared").proxy_fields = fields;
        if let Some(given) = given {
            let given = HeaderValue::from_static(given);
            call.parts.headers.insert(X_REQUEST_START, given);
        }
        stamp(&mut call);
        let value = &call.parts.headers[X_REQUEST_START];
        value.to_str().expect("ASCII").to_owned()
    }

    #[test]
    fn a_request_gets_the_time_unless_a_proxy_has_set_it() {
        assert!(stamped(ProxyFields::Ignored, None).starts_with("t=1"));
        for fields in [ProxyFields::Ignored, ProxyFields::Believed] {
            assert_eq!(stamped(fields, Some("t=1.5")), "t=1.5");
        }
    }

    #[test]
    fn nobody_else_can_make_up_a_time() {
        assert_ne!(stamped(ProxyFields::Removed, Some("t=1.5")), "t=1.5");
    }

    #[test]
    fn the_time_has_milliseconds() {
        let now = Duration::from_micros(1_700_000_000_001_999);
        assert_eq!(value(now), "t=1700000000.001");
    }
}
