use ring::hmac::{HMAC_SHA256, Key, verify};
use serde::Deserialize;

use crate::SigningKey;

/// The channel of Turbo's streams. The application signs the name of such a stream.
const CHANNEL: &str = "Turbo::StreamsChannel";
/// The text between a message of `ActiveSupport::MessageVerifier` and its digest in hexadecimal
/// digits.
const SEPARATOR: &str = "--";
/// The bytes of a digest: SHA-256.
const DIGEST_BYTES: usize = 32;

/// Verifies the signed names of streams in the identifiers of Turbo's subscriptions. Whatever is
/// not plainly valid is left to the application.
#[derive(Debug)]
pub(super) struct SignedStreams {
    given: SigningKey,
    key: Key,
}

#[derive(Deserialize)]
struct Identifier {
    channel: String,
    signed_stream_name: String,
}

impl SignedStreams {
    /// `None` when the key is not in hexadecimal digits.
    pub(super) fn new(given: SigningKey) -> Option<SignedStreams> {
        let key = Key::new(HMAC_SHA256, &from_hex(&given.key)?);
        Some(SignedStreams { given, key })
    }

    /// Whether this is another key than the one in use.
    pub(super) fn differs(&self, given: &SigningKey) -> bool {
        self.given != *given
    }

    /// The stream that the identifier of a subscription names; `None` without a valid signature.
    pub(super) fn stream_of(&self, identifier: &str) -> Option<String> {
        // A quick check first: most identifiers name other channels.
        if !identifier.contains(CHANNEL) {
            return None;
        }
        let named: Identifier = serde_json::from_str(identifier).ok()?;
        let signed = named.signed_stream_name;
        let end = signed.len().checked_sub(2 * DIGEST_BYTES)?;
        let (message, digest) = signed.split_at_checked(end)?;
        let message = message.strip_suffix(SEPARATOR)?;
        verify(&self.key, message.as_bytes(), &from_hex(digest)?).ok()?;
        let name: String = serde_json::from_slice(&from_base64(message)?).ok()?;
        (named.channel == CHANNEL).then(|| format!("{}{name}", self.given.prefix))
    }
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|it| u8::try_from(it).ok())
    };
    let pairs = digits.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(value(*high)? << 4 | value(*low)?),
        _ => None,
    });
    pairs.collect()
}

/// Reads base64 as `ActiveSupport::MessageVerifier` writes it.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut bits: u32 = 0;
    let digits = text.trim_end_matches('=');
    for (index, digit) in digits.bytes().enumerate() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        let left = 8_u32.checked_sub(u32::try_from(index % 4).ok()? * 2)?;
        if left < 8 {
            bytes.push(u8::try_from(bits >> (left - 2) & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by Rails 8.1.3: `Turbo.signed_stream_verifier` with the key "secret".
    const SIGNED: &str = "IloybGtPaTh2YzJodmNDOVNiMjl0THpFOm1lc3NhZ2VzIg==--\
                          dbd8ed2506779c312a0d26997981588d5909b29a3054e22a14074b131499a72e";
    const STREAM: &str = "Z2lkOi8vc2hvcC9Sb29tLzE:messages";

    fn streams(prefix: &str) -> SignedStreams {
        let key = SigningKey {
            key: "736563726574".to_owned(),
            prefix: prefix.to_owned(),
        };
        SignedStreams::new(key).expect("a key")
    }

    fn identifier(channel: &str, signed: &str) -> String {
        format!(r#"{{"channel":"{channel}","signed_stream_name":"{signed}"}}"#)
    }

    #[test]
    fn a_name_that_rails_has_signed_is_known() {
        let identifier = identifier(CHANNEL, SIGNED);
        assert_eq!(streams("").stream_of(&identifier).as_deref(), Some(STREAM));
        let prefixed = streams("shop:").stream_of(&identifier);
        assert_eq!(prefixed, Some(format!("shop:{STREAM}")));
    }

    #[test]
    fn whatever_is_not_plainly_valid_is_left_to_the_application() {
        let streams = streams("");
        let end = SIGNED.len() - 1;
        let other = if SIGNED.ends_with('0') { '1' } else { '0' };
        for (channel, signed) in [
            ("RoomChannel", SIGNED.to_owned()),
            ("My::Turbo::StreamsChannel", SIGNED.to_owned()),
            (CHANNEL, format!("{}{other}", &SIGNED[..end])),
            (CHANNEL, SIGNED[..end].to_owned()),
            (CHANNEL, format!("x{SIGNED}")),
            (CHANNEL, SIGNED.replace("--", "++")),
            (CHANNEL, "ü".repeat(40)),
            (CHANNEL, String::new()),
        ] {
            let identifier = identifier(channel, &signed);
            assert_eq!(streams.stream_of(&identifier), None, "{identifier}");
        }
        assert_eq!(streams.stream_of(CHANNEL), None);
        let no_key = |key: &str| SigningKey {
            key: key.to_owned(),
            prefix: String::new(),
        };
        assert!(SignedStreams::new(no_key("1")).is_none());
        assert!(SignedStreams::new(no_key("zz")).is_none());
    }

    #[test]
    fn base64_of_any_length_is_read() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
        ] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(from_base64("Zm9*"), None);
    }
}
