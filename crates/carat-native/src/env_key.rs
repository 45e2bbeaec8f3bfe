//! The env key of a header: `x-odd` becomes `HTTP_X_ODD`.

const PREFIX: &[u8] = b"HTTP_";

/// Names up to this many bytes need no memory of their own.
const SHORT: usize = 128;

/// The keys that Rack wants without the prefix.
const BARE: [&[u8]; 2] = [b"content-type", b"content-length"];

/// Hands the env key of a lower-case header name to `with`.
pub(crate) fn with_env_key<T>(name: &[u8], with: impl FnOnce(&[u8]) -> T) -> T {
    let prefix = if BARE.contains(&name) { b"" } else { PREFIX };
    let length = prefix.len() + name.len();
    let mut short = [0; PREFIX.len() + SHORT];
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
