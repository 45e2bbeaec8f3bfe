use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// The text that a server appends to the key (RFC 6455, section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of `Sec-WebSocket-Accept` that answers a `Sec-WebSocket-Key`. `None` unless the key is
/// 16 bytes in base64.
///
/// ```
/// let accept = carat_cable::accept_key(b"dGhlIHNhbXBsZSBub25jZQ==");
/// assert_eq!(accept.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
/// ```
pub fn accept_key(key: &[u8]) -> Option<String> {
    let digits = key.strip_suffix(b"==")?;
    if digits.len() != 22 || !digits.iter().all(|digit| BASE64.contains(digit)) {
        return None;
    }
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key, GUID].concat());
    Some(base64(hash.as_ref()))
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let is_padding = digit > group.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(BASE64[value as usize])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{accept_key, base64};

    #[test]
    fn the_key_of_the_rfc_has_the_answer_of_the_rfc() {
        let accept = accept_key(b"dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accept.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    }

    #[test]
    fn the_key_that_the_edge_names_for_clients_of_http2_has_its_answer() {
        let accept = accept_key(b"Y2FyYXQgb3ZlciBodHRwMg==");
        assert_eq!(accept.as_deref(), Some("f3Y4KrM3OVMzjMeBUH/95GtQLl0="));
    }

    #[test]
    fn a_key_that_is_not_16_bytes_in_base64_has_no_answer() {
        let keys = [
            "",
            "==",
            "dGhlIHNhbXBsZSBub25jZQ",
            "dGhlIHNhbXBsZSBub25jZQ=",
            "dGhlIHNhbXBsZSBub25jZTE=",
            "dGhlIHNhbXBsZSBub25j====",
            "dGhlIHNhbXBsZSBub25jZQ===",
            "dGhlIHNhbXBsZSBub25j-Q==",
            " GhlIHNhbXBsZSBub25jZQ==",
        ];
        for key in keys {
            assert_eq!(accept_key(key.as_bytes()), None, "{key}");
        }
    }

    #[test]
    fn bytes_of_any_number_are_padded() {
        let texts = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (length, text) in texts.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), *text);
        }
    }
}
