use std::str::from_utf8;

use http::HeaderValue;

/// The media type for an unknown extension, as in Rack.
const UNKNOWN: &str = "application/octet-stream";

/// The media type of a file, by its extension.
pub(crate) fn media_type(name: &[u8]) -> HeaderValue {
    let base = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let dot = base.iter().rposition(|&byte| byte == b'.');
    let extension = dot.and_then(|dot| from_utf8(&base[dot + 1..]).ok());
    let known = extension.and_then(|extension| mime_guess::from_ext(extension).first_raw());
    HeaderValue::from_static(known.unwrap_or(UNKNOWN))
}

/// Whether a file of this type may have compressed variants.
pub(crate) fn is_compressible(media_type: &HeaderValue) -> bool {
    const OTHERS: [&[u8]; 5] = [b"javascript", b"json", b"xml", b"wasm", b"ttf"];
    let media_type = media_type.as_bytes();
    media_type.starts_with(b"text/") || OTHERS.iter().any(|ending| media_type.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_tells_the_type() {
        for (name, expected) in [
            ("a.html", "text/html"),
            ("a/b.CSS", "text/css"),
            ("a.js", "text/javascript"),
            ("a.svg", "image/svg+xml"),
            ("a.png", "image/png"),
            ("a.woff2", "font/woff2"),
            ("a", UNKNOWN),
            ("js", UNKNOWN),
            ("a/js", UNKNOWN),
            ("a.unknown", UNKNOWN),
        ] {
            assert_eq!(media_type(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn text_is_compressible_and_images_are_not() {
        let compressible = |name: &str| is_compressible(&media_type(name.as_bytes()));
        assert!(
            ["a.html", "a.js", "a.json", "a.svg", "a.wasm"]
                .into_iter()
                .all(compressible)
        );
        assert!(!["a.png", "a.woff2", "a"].into_iter().any(compressible));
    }
}
