//! The authority of a request: the value of Host, or the authority of a target in absolute-form.

use std::net::Ipv6Addr;

use crate::byte_class::ByteClass;

/// Whether `authority` is `uri-host [":" port]` (RFC 9110, section 7.2; RFC 3986, section 3.2.2).
///
/// An empty host is invalid: RFC 9112, section 3.3 allows a server to refuse it for "http" and
/// "https". So are user information, a comma (two values joined by a proxy) and an `IPvFuture`,
/// which has never been in use.
pub fn is_authority(authority: &[u8]) -> bool {
    let port = if let Some(literal) = authority.strip_prefix(b"[") {
        let Some(end) = literal.iter().position(|&byte| byte == b']') else {
            return false;
        };
        if !is_ipv6(&literal[..end]) {
            return false;
        }
        &literal[end + 1..]
    } else {
        let Some(end) = name_end(authority).filter(|&end| end > 0) else {
            return false;
        };
        &authority[end..]
    };
    is_port(port)
}

/// The authority of `http://authority/path`, if `target` has that form.
pub(crate) fn of_absolute_form(target: &[u8]) -> Option<&[u8]> {
    let colon = target.iter().position(|&byte| byte == b':')?;
    let (scheme, rest) = target.split_at(colon);
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return None;
    }
    let rest = rest.strip_prefix(b"://")?;
    rest.split(|byte| matches!(byte, b'/' | b'?')).next()
}

/// The end of a registered name or an IPv4 address; `None` when a percent sign is not followed by
/// two hex digits.
fn name_end(authority: &[u8]) -> Option<usize> {
    let mut at = ByteClass::HOST_NAME.run_end(authority, 0);
    while authority.get(at) == Some(&b'%') {
        let digits = authority.get(at + 1..at + 3)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        at = ByteClass::HOST_NAME.run_end(authority, at + 3);
    }
    Some(at)
}

fn is_ipv6(literal: &[u8]) -> bool {
    std::str::from_utf8(literal).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// Nothing, or a colon and a number up to 65535; the number may be missing (RFC 3986, section
/// 3.2.3).
fn is_port(port: &[u8]) -> bool {
    match port {
        [] | [b':'] => true,
        [b':', digits @ ..] => {
            let value = digits.iter().try_fold(0_u16, |value, byte| {
                let digit = byte.is_ascii_digit().then(|| byte - b'0')?;
                value.checked_mul(10)?.checked_add(digit.into())
            });
            value.is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_and_perhaps_a_port() {
        for good in [
            "localhost",
            "example.com",
            "EXAMPLE.com:80",
            "127.0.0.1:9292",
            "my_app.internal",
            "a-b.example.",
            "[::1]",
            "[::1]:9292",
            "[2001:db8::7]:",
            "[::ffff:10.0.0.1]",
            "name:",
            "x%C3%BC.de",
            "a:65535",
            "a:00080",
        ] {
            assert!(is_authority(good.as_bytes()), "{good}");
        }
    }

    #[test]
    fn anything_else_is_no_host() {
        for bad in [
            "",
            ":80",
            "a b",
            "a,b",
            "a, a",
            "user@a",
            "a/b",
            "a?b",
            "a#b",
            "a\\b",
            "a:b",
            "a:80:80",
            "a:-1",
            "a:+80",
            "a:65536",
            "a:99999999999999999999",
            "a: 80",
            "[::1",
            "::1",
            "[]",
            "[:::1]",
            "[::1]x",
            "[::1%25eth0]",
            "[v1.x]",
            "a%",
            "a%2",
            "a%zz",
            "%",
            "a\"b",
            "<a>",
            "a\u{fc}",
            "a]",
            "http://a",
            "a\tb",
            "{a}",
            "a|b",
        ] {
            assert!(!is_authority(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn an_absolute_form_has_a_scheme_of_ours_and_an_authority() {
        assert_eq!(of_absolute_form(b"http://a/b"), Some(&b"a"[..]));
        assert_eq!(of_absolute_form(b"HTTPS://a:1?b"), Some(&b"a:1"[..]));
        assert_eq!(of_absolute_form(b"http:///b"), Some(&b""[..]));
        assert_eq!(of_absolute_form(b"http:/b"), None);
        assert_eq!(of_absolute_form(b"ftp://a/b"), None);
        assert_eq!(of_absolute_form(b"a:80"), None);
        assert_eq!(of_absolute_form(b"index.html"), None);
    }
}
