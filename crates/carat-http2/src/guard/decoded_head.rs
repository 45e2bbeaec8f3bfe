//! The head of a request of HTTP/2, which a decoder has split into its fields.

use carat_guard::{ByteClass, GuardError, HeaderLimits, METHOD_LIMIT, is_authority, parse_length};

/// The head of a request (RFC 9113, section 8.3.1), without its header fields.
#[derive(Clone, Copy)]
pub struct DecodedHead<'a> {
    /// `:method`.
    pub method: &'a [u8],
    /// `:authority`, if there is one.
    pub authority: Option<&'a [u8]>,
    /// `:path`, if there is one.
    pub target: Option<&'a [u8]>,
}

/// The values of the fields that decide how a request is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodedFields<'a> {
    /// The value of Host.
    pub host: Option<&'a [u8]>,
    /// The length of the body, if it is declared.
    pub length: Option<u64>,
}

impl DecodedHead<'_> {
    /// Applies the rules that [`Guard`](carat_guard::Guard) applies to the bytes of HTTP/1.1, except those that a decoder
    /// has applied. Names must be lower-case.
    pub fn check<'f, F>(
        &self,
        fields: F,
        limits: &HeaderLimits,
    ) -> Result<DecodedFields<'f>, GuardError>
    where
        F: Iterator<Item = (&'f [u8], &'f [u8])>,
    {
        self.check_method()?;
        self.check_target(limits)?;
        let fields = check_fields(fields, limits)?;
        let authority = match (self.authority, fields.host) {
            (Some(authority), Some(host)) if !authority.eq_ignore_ascii_case(host) => {
                return Err(GuardError::AuthorityMismatch);
            }
            (Some(authority), _) => authority,
            (None, Some(host)) => host,
            (None, None) => return Err(GuardError::MissingHost),
        };
        if !is_authority(authority) {
            return Err(GuardError::InvalidHost);
        }
        Ok(fields)
    }

    fn check_method(&self) -> Result<(), GuardError> {
        match self.method {
            b"CONNECT" => Err(GuardError::Connect),
            method if method.len() > METHOD_LIMIT => Err(GuardError::MethodTooLong),
            // A backtick at the end marks a malformed method: see `TextKind::substitute`.
            method if !is_all(ByteClass::TOKEN, method) || matches!(method, [] | [.., b'`']) => {
                Err(GuardError::RequestLine)
            }
            _ => Ok(()),
        }
    }

    /// Checks that the target is in origin-form, or is `*` for OPTIONS.
    fn check_target(&self, limits: &HeaderLimits) -> Result<(), GuardError> {
        let target = self.target.ok_or(GuardError::Target)?;
        if target.len() > limits.max_uri {
            return Err(GuardError::UriTooLong);
        }
        let query = &target[ByteClass::PATH.run_end(target, 0)..];
        let has_query = query.starts_with(b"?") && is_all(ByteClass::QUERY, query);
        let is_origin = target.starts_with(b"/") || (target == b"*" && self.method == b"OPTIONS");
        let is_text = std::str::from_utf8(target).is_ok();
        if is_origin && is_text && (query.is_empty() || has_query) {
            Ok(())
        } else {
            Err(GuardError::Target)
        }
    }
}

fn check_fields<'f>(
    fields: impl Iterator<Item = (&'f [u8], &'f [u8])>,
    limits: &HeaderLimits,
) -> Result<DecodedFields<'f>, GuardError> {
    let mut seen = DecodedFields::default();
    for (count, (name, value)) in fields.enumerate() {
        if count == limits.max_headers {
            return Err(GuardError::TooManyHeaders);
        }
        // A quotation mark, which the `http` crate accepts, marks a malformed name.
        if name.contains(&b'"') {
            return Err(GuardError::FieldName);
        }
        if matches!(value, [b' ' | b'\t', ..] | [.., b' ' | b'\t']) {
            return Err(GuardError::FieldPadding);
        }
        match name {
            b"host" if seen.host.is_some() => return Err(GuardError::RepeatedHost),
            b"host" => seen.host = Some(value),
            b"content-length" if seen.length.is_some() => return Err(GuardError::RepeatedLength),
            b"content-length" => {
                seen.length = Some(parse_length(value).ok_or(GuardError::InvalidLength)?);
            }
            // RFC 9113, section 8.2.2: fields that belong to a connection of HTTP/1.1.
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding"
            | b"upgrade" => return Err(GuardError::ConnectionField),
            b"te" if !value.eq_ignore_ascii_case(b"trailers") => {
                return Err(GuardError::ConnectionField);
            }
            _ => {}
        }
    }
    Ok(seen)
}

fn is_all(class: ByteClass, bytes: &[u8]) -> bool {
    class.run_end(bytes, 0) == bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HeaderLimits = HeaderLimits {
        max_header_bytes: 1000,
        max_headers: 3,
        max_uri: 20,
    };

    const HEAD: DecodedHead<'_> = DecodedHead {
        method: b"GET",
        authority: Some(b"a.example"),
        target: Some(b"/x?y=1"),
    };

    fn check<'f>(
        head: &DecodedHead<'_>,
        fields: &[(&'f str, &'f str)],
    ) -> Result<DecodedFields<'f>, GuardError> {
        let fields = fields.iter();
        let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        head.check(fields.collect::<Vec<_>>().into_iter(), &LIMITS)
    }

    #[test]
    fn a_request_has_a_host_from_either_field() {
        let none = DecodedHead {
            authority: None,
            ..HEAD
        };
        let seen = check(&HEAD, &[("content-length", "5")]).expect("valid");
        assert_eq!((seen.host, seen.length), (None, Some(5)));
        let seen = check(&none, &[("host", "a.example:80")]).expect("valid");
        assert_eq!(seen.host, Some(&b"a.example:80"[..]));
        assert!(check(&HEAD, &[("host", "A.example")]).is_ok());
        assert_eq!(check(&none, &[]), Err(GuardError::MissingHost));
        for (host, error) in [
            ("b.example", GuardError::AuthorityMismatch),
            ("a.example:80", GuardError::AuthorityMismatch),
        ] {
            assert_eq!(check(&HEAD, &[("host", host)]), Err(error));
        }
        let same = ("host", "a.example");
        assert_eq!(check(&HEAD, &[same, same]), Err(GuardError::RepeatedHost));
        for authority in ["", "user@a", "a,b", "a/b"] {
            let head = DecodedHead {
                authority: Some(authority.as_bytes()),
                ..HEAD
            };
            let found = check(&head, &[]);
            assert_eq!(found, Err(GuardError::InvalidHost), "{authority}");
        }
    }

    #[test]
    fn a_target_has_the_form_of_an_origin() {
        let targets: [(&str, &str, Result<(), GuardError>); 11] = [
            ("GET", "/", Ok(())),
            ("OPTIONS", "*", Ok(())),
            ("GET", "*", Err(GuardError::Target)),
            ("GET", "", Err(GuardError::Target)),
            ("GET", "x", Err(GuardError::Target)),
            ("GET", "?x", Err(GuardError::Target)),
            ("GET", "http://a/", Err(GuardError::Target)),
            ("GET", "/a\"b?c\"", Err(GuardError::Target)),
            ("GET", "/`", Err(GuardError::Target)),
            ("GET", "/a?`", Ok(())),
            ("GET", "/123456789/123456789/", Err(GuardError::UriTooLong)),
        ];
        for (method, target, expected) in targets {
            let head = DecodedHead {
                method: method.as_bytes(),
                target: Some(target.as_bytes()),
                ..HEAD
            };
            assert_eq!(check(&head, &[]).map(|_| ()), expected, "{method} {target}");
        }
        for target in [None, Some(&b"/\xe3="[..])] {
            let head = DecodedHead { target, ..HEAD };
            assert_eq!(check(&head, &[]), Err(GuardError::Target));
        }
    }

    #[test]
    fn methods_are_those_of_http_1() {
        for (method, error) in [
            ("CONNECT", GuardError::Connect),
            ("", GuardError::RequestLine),
            ("G T", GuardError::RequestLine),
            ("GE`", GuardError::RequestLine),
            (
                "A123456789B123456789C123456789DXY",
                GuardError::MethodTooLong,
            ),
        ] {
            let head = DecodedHead {
                method: method.as_bytes(),
                ..HEAD
            };
            assert_eq!(check(&head, &[]), Err(error), "{method}");
        }
    }

    #[test]
    fn fields_that_frame_a_message_of_http_1_are_refused() {
        for (name, value) in [
            ("connection", "close"),
            ("keep-alive", "1"),
            ("proxy-connection", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("te", "gzip"),
        ] {
            let refused = check(&HEAD, &[(name, value)]);
            assert_eq!(refused, Err(GuardError::ConnectionField), "{name}");
        }
        assert!(check(&HEAD, &[("te", "Trailers")]).is_ok());
    }

    #[test]
    fn fields_are_counted_and_lengths_are_numbers() {
        let field = ("x", "1");
        assert!(check(&HEAD, &[field; 3]).is_ok());
        assert_eq!(check(&HEAD, &[field; 4]), Err(GuardError::TooManyHeaders));
        for value in ["", "x", "-1", "1 1", "9223372036854775808"] {
            let refused = check(&HEAD, &[("content-length", value)]);
            assert_eq!(refused, Err(GuardError::InvalidLength), "{value}");
        }
        let length = ("content-length", "5");
        assert_eq!(
            check(&HEAD, &[length, length]),
            Err(GuardError::RepeatedLength)
        );
        let quoted = check(&HEAD, &[("x\"", "a")]);
        assert_eq!(quoted, Err(GuardError::FieldName));
        for value in [" a", "a\t"] {
            assert_eq!(check(&HEAD, &[("x", value)]), Err(GuardError::FieldPadding));
        }
    }
}
