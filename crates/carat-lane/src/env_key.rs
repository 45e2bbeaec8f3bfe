//! The env key of a header: `x-odd` becomes `HTTP_X_ODD`.

use carat_wire::VARIABLE_MARK;

const PREFIX: &[u8] = b"HTTP_";

/// Names of up to this many bytes are converted on the stack.
const SHORT_LIMIT: usize = 128;

/// The headers whose keys Rack wants without the prefix.
const UNPREFIXED: [&[u8]; 2] = [b"content-type", b"content-length"];

/// Calls `with` with the env key of a lower-case header name. If the name begins with the mark of a variable, the rest
/// of it is passed unchanged.
pub fn with_env_key<T>(name: &[u8], with: impl FnOnce(&[u8]) -> T) -> T {
    if let Some((&VARIABLE_MARK, variable)) = name.split_first() {
        return with(variable);
    }
    let prefix = if UNPREFIXED.contains(&name) {
        b""
    } else {
        PREFIX
    };
    let length = prefix.len() + name.len();
    let mut short = [0; PREFIX.len() + SHORT_LIMIT];
    if let Some(key) = short.get_mut(..length) {
        write(key, prefix, name);
        with(key)
    } else {
        let mut key = vec![0; length];
        write(&mut key, prefix, name);
        with(&key)
    }
}

fn write(key: &mut [u8], prefix: &[u8], name: &[u8]) {
    let (front, rest) = key.split_at_mut(prefix.len());
    front.copy_from_slice(prefix);
    for (to, from) in rest.iter_mut().zip(name) {
        *to = match from {
            b'-' => b'_',
            other => other.to_ascii_uppercase(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env_key(name: &str) -> String {
        with_env_key(name.as_bytes(), |key| {
            String::from_utf8(key.to_vec()).expect("ASCII")
        })
    }

    #[test]
    fn a_header_becomes_a_key_with_the_prefix() {
        assert_eq!(env_key("x-odd"), "HTTP_X_ODD");
        assert_eq!(env_key("host"), "HTTP_HOST");
    }

    #[test]
    fn a_variable_keeps_its_name() {
        assert_eq!(env_key(":SSL_CLIENT_VERIFY"), "SSL_CLIENT_VERIFY");
    }

    #[test]
    fn rack_wants_two_keys_without_the_prefix() {
        assert_eq!(env_key("content-type"), "CONTENT_TYPE");
        assert_eq!(env_key("content-length"), "CONTENT_LENGTH");
        assert_eq!(env_key("content-typed"), "HTTP_CONTENT_TYPED");
    }

    #[test]
    fn a_name_of_any_length_becomes_a_key() {
        for length in [1, SHORT_LIMIT, SHORT_LIMIT + 1, SHORT_LIMIT * 9] {
            let expected = format!("HTTP_{}", "X".repeat(length));
            assert_eq!(env_key(&"x".repeat(length)), expected);
        }
    }
}
