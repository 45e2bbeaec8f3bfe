use serde::Deserialize;
use serde_json::value::RawValue;

/// The payload of a broadcast: one value of JSON, sent as the application has encoded it.
///
/// ```
/// use carat_cable::{Payload, message};
///
/// let payload = Payload::parse(br#"{"body": "hello"}"#).expect("JSON");
/// let text = message("{}", &payload);
/// assert_eq!(text, r#"{"identifier":"{}","message":{"body": "hello"}}"#);
/// assert!(Payload::parse(br#"1},{"identifier":"another""#).is_none());
/// ```
#[derive(Clone, Debug, Deserialize)]
pub struct Payload(Box<RawValue>);

impl Payload {
    /// The payload with these bytes; `None` unless they are one value of JSON in UTF-8. So a
    /// payload cannot add members of its own to the object of [`message`](crate::message).
    pub fn parse(bytes: &[u8]) -> Option<Payload> {
        serde_json::from_str(std::str::from_utf8(bytes).ok()?)
            .map(Payload)
            .ok()
    }

    /// The JSON, without whitespace around it.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::Payload;
    use crate::message;

    #[test]
    fn every_value_of_json_is_a_payload() {
        for json in [
            "null",
            "true",
            "-1.5e99",
            r#""\ud800""#,
            "[]",
            r#"{"a":1,"a":2}"#,
            "\"\u{2028}<\"",
        ] {
            let payload = Payload::parse(format!(" {json}\n").as_bytes());
            assert_eq!(payload.expect(json).as_str(), json);
        }
    }

    #[test]
    fn what_is_not_one_value_is_no_payload() {
        let payloads: [&[u8]; 9] = [
            b"",
            b" ",
            b"1 2",
            b"{}{}",
            br#"1,"type":"disconnect""#,
            b"NaN",
            b"\"\n\"",
            b"\"\xff\"",
            b"\"a",
        ];
        for payload in payloads {
            assert!(
                Payload::parse(payload).is_none(),
                "{}",
                payload.escape_ascii()
            );
        }
    }

    #[test]
    fn a_deep_payload_takes_no_stack() {
        let deep = ["[".repeat(1 << 20), "]".repeat(1 << 20)].concat();
        let payload = Payload::parse(deep.as_bytes()).expect("JSON");
        assert!(message("", &payload).ends_with(&format!("{deep}}}")));
    }
}
