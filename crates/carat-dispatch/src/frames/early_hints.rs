use std::cell::Cell;

use http::header::{
    CONNECTION, CONTENT_LENGTH, PROXY_AUTHENTICATE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::frames::decode::header_name;

/// The most bytes that the early hints of one request may have.
const HINTS_LIMIT: usize = 16 * 1024;
/// The bytes for which a field counts in addition to its name and value, as in RFC 9113, section 6.5.2.
const FIELD_COST: usize = 32;

/// Fields that frame a message or concern the connection, and have no place in hints.
static FORBIDDEN: [HeaderName; 9] = [
    CONNECTION,
    CONTENT_LENGTH,
    PROXY_AUTHENTICATE,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The fields that may be sent as early hints (RFC 8297). Other and invalid fields are dropped.
pub(crate) fn hint_fields(sent: carat_wire::Headers<'_>) -> HeaderMap {
    let mut fields = HeaderMap::new();
    for (name, value) in sent {
        let name = header_name(name)
            .ok()
            .filter(|name| !FORBIDDEN.contains(name));
        let value = HeaderValue::from_bytes(value);
        if let (Some(name), Ok(value)) = (name, value) {
            // The map is full only far beyond the limit.
            let _ = fields.try_append(name, value);
        }
    }
    fields
}

/// How many bytes of `HINTS_LIMIT` the hints of a request have used.
#[derive(Debug, Default)]
pub(crate) struct HintAllowance(Cell<usize>);

impl HintAllowance {
    /// Whether these fields may be sent: there are some, and with the earlier ones they stay within the limit.
    pub(crate) fn admits(&self, fields: &HeaderMap) -> bool {
        let bytes = fields
            .iter()
            .map(|(name, value)| FIELD_COST + name.as_str().len() + value.len());
        let total = self.0.get() + bytes.sum::<usize>();
        let is_admitted = total > self.0.get() && total <= HINTS_LIMIT;
        if is_admitted {
            self.0.set(total);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use carat_wire::hints::{Hints, encode};
    use carat_wire::{EncodedHeaders, Frame, push_header};

    use super::*;

    fn fields(sent: &[(&str, &[u8])]) -> HeaderMap {
        let (mut bytes, mut headers, mut count) = (Vec::new(), Vec::new(), 0);
        for (name, value) in sent {
            push_header(&mut headers, name, value);
            count += 1;
        }
        let encoded = EncodedHeaders {
            count,
            fields: &headers,
        };
        encode(&mut bytes, 1, encoded);
        let frame = Frame::first(&bytes).expect("well formed");
        let hints = Hints::decode(frame.expect("complete").payload);
        hint_fields(hints.expect("well formed").headers)
    }

    #[test]
    fn fields_that_could_split_or_frame_a_message_are_dropped() {
        let sent: [(&str, &[u8]); 9] = [
            ("link", b"</a.css>; rel=preload"),
            ("link", b"</b>\r\nset-cookie: evil=1"),
            ("link", b"</c>\0"),
            ("x y", b"1"),
            ("x\r\ny", b"1"),
            ("content-length", b"5"),
            ("transfer-encoding", b"chunked"),
            ("keep-alive", b"timeout=5"),
            ("x-own", b"\xe4"),
        ];
        let kept = fields(&sent);
        let kept: Vec<_> = kept
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        assert_eq!(kept, [("link", sent[0].1), ("x-own", &b"\xe4"[..])]);
    }

    #[test]
    fn the_hints_of_a_request_have_a_limit_in_bytes_and_in_number() {
        let allowance = HintAllowance::default();
        assert!(!allowance.admits(&HeaderMap::new()));
        let large = fields(&[("link", &[b'x'; HINTS_LIMIT - 36])]);
        assert!(!HintAllowance::default().admits(&fields(&[("link", &[b'x'; HINTS_LIMIT - 35])])));
        assert!(allowance.admits(&large) && !allowance.admits(&fields(&[("a", b"")])));
        let tiny = fields(&[("a", b"")]);
        let allowance = HintAllowance::default();
        let admitted = (0..HINTS_LIMIT).filter(|_| allowance.admits(&tiny)).count();
        assert_eq!(admitted, HINTS_LIMIT / (FIELD_COST + 1));
    }
}
