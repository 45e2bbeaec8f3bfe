use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue};
use ring::rand::{SecureRandom, SystemRandom};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// The most bytes of `tracestate` that a span keeps: as many as W3C Trace Context, section 3.3.1.5,
/// asks for. A longer value is left out.
const TRACESTATE_LIMIT: usize = 512;
/// The length of `traceparent` in version 00: `00-<32 hex>-<16 hex>-<2 hex>`.
const LENGTH: usize = 55;
/// The flag of a trace that is recorded.
const SAMPLED: u8 = 1;

pub(crate) type TraceId = [u8; 16];
pub(crate) type SpanId = [u8; 8];

/// The span that a request belongs to (W3C Trace Context).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceContext {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    pub(crate) is_sampled: bool,
}

impl TraceContext {
    /// The trace context in the header fields of a request; `None` without a valid one.
    pub(crate) fn of(fields: &HeaderMap) -> Option<TraceContext> {
        let mut values = fields.get_all(TRACEPARENT).iter();
        let (value, None) = (values.next()?, values.next()) else {
            return None;
        };
        TraceContext::parse(value.as_bytes())
    }

    fn parse(value: &[u8]) -> Option<TraceContext> {
        let (known, rest) = value.split_at_checked(LENGTH)?;
        let [version] = hex(&known[..2])?;
        // A header of a later version may continue after another hyphen.
        let is_whole = rest.is_empty() || (version > 0 && rest[0] == b'-');
        let hyphens = [2, 35, 52].iter().all(|&index| known[index] == b'-');
        if version == u8::MAX || !is_whole || !hyphens {
            return None;
        }
        let (trace, span) = (hex(&known[3..35])?, hex(&known[36..52])?);
        let [flags] = hex(&known[53..])?;
        let is_valid = trace != TraceId::default() && span != SpanId::default();
        is_valid.then_some(TraceContext {
            trace,
            span,
            is_sampled: flags & SAMPLED != 0,
        })
    }

    /// Sets `traceparent`. Removes `tracestate` unless `keeps_state`: it belongs to another trace.
    pub(crate) fn tell(&self, fields: &mut HeaderMap, keeps_state: bool) {
        let mut text = String::with_capacity(LENGTH);
        text.push_str("00-");
        write_hex(&mut text, &self.trace);
        text.push('-');
        write_hex(&mut text, &self.span);
        text.push_str(if self.is_sampled { "-01" } else { "-00" });
        let value = HeaderValue::try_from(text).expect("made of hexadecimal digits and hyphens");
        fields.insert(TRACEPARENT, value);
        if !keeps_state {
            fields.remove(TRACESTATE);
        }
    }
}

/// The value of `tracestate`, for a span of the same trace; empty if it is too long.
pub(crate) fn trace_state(fields: &HeaderMap) -> String {
    let values = fields.get_all(TRACESTATE).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    let length: usize = values.iter().map(|value| value.len() + 1).sum();
    if length > TRACESTATE_LIMIT {
        return String::new();
    }
    values.join(",")
}

/// Random bytes, which no client can foresee; `None` when the kernel gives none.
pub(crate) fn random<const N: usize>() -> Option<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// The value of a hexadecimal digit, which must be in lower case.
fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

fn write_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn parsed(text: &str) -> Option<TraceContext> {
        let mut fields = HeaderMap::new();
        fields.insert(TRACEPARENT, HeaderValue::try_from(text).expect("text"));
        TraceContext::of(&fields)
    }

    #[test]
    fn a_valid_field_is_read_and_written_back() {
        let text = format!("00-{TRACE}-b7ad6b7169203331-01");
        let context = parsed(&text).expect("valid");
        assert!(context.is_sampled);
        let mut fields = HeaderMap::new();
        context.tell(&mut fields, true);
        assert_eq!(fields[TRACEPARENT], text);
    }

    #[test]
    fn a_later_version_may_have_more_and_version_0_may_not() {
        let rest = format!("{TRACE}-b7ad6b7169203331-00");
        assert!(parsed(&format!("01-{rest}-what.is.to.come")).is_some_and(|it| !it.is_sampled));
        assert_eq!(parsed(&format!("01-{rest}x")), None);
        assert_eq!(parsed(&format!("00-{rest}-more")), None);
        assert_eq!(parsed(&format!("ff-{rest}")), None);
    }

    #[test]
    fn what_is_not_valid_is_not_read() {
        let zeros = "0".repeat(32);
        for text in [
            "",
            "00",
            &format!("00-{zeros}-b7ad6b7169203331-01"),
            &format!("00-{TRACE}-0000000000000000-01"),
            &format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()),
            &format!("00-{TRACE}_b7ad6b7169203331-01"),
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn two_fields_are_none() {
        let mut fields = HeaderMap::new();
        for _ in 0..2 {
            let text = format!("00-{TRACE}-b7ad6b7169203331-01");
            fields.append(TRACEPARENT, HeaderValue::try_from(text).expect("text"));
        }
        assert_eq!(TraceContext::of(&fields), None);
    }

    #[test]
    fn a_state_that_is_too_long_is_left_out() {
        let mut fields = HeaderMap::new();
        fields.append(TRACESTATE, HeaderValue::from_static("a=1"));
        fields.append(TRACESTATE, HeaderValue::from_static("b=2"));
        assert_eq!(trace_state(&fields), "a=1,b=2");
        let long = format!("c={}", "x".repeat(TRACESTATE_LIMIT));
        fields.append(TRACESTATE, HeaderValue::try_from(long).expect("text"));
        assert_eq!(trace_state(&fields), "");
    }
}
