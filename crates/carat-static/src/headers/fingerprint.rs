/// The fewest digits of a digest: Propshaft's digests have 8, those of Sprockets 64.
const SHORTEST: usize = 8;

/// Whether the name of a file contains a digest of its content, as in `app-3f786850.js` and `app.3f786850.js`: then the
/// content never changes. A date is no digest.
pub(crate) fn is_fingerprinted(name: &[u8]) -> bool {
    let base = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let Some(dot) = base.iter().rposition(|&byte| byte == b'.') else {
        return false;
    };
    let mut words = base[..dot].split(|&byte| matches!(byte, b'-' | b'.'));
    words.next();
    words.any(is_digest)
}

fn is_digest(word: &[u8]) -> bool {
    word.len() >= SHORTEST
        && word
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::is_fingerprinted;

    #[test]
    fn names_with_a_digest_are_fingerprinted() {
        let texts = "app-3f786850.js|a/b/app-3f786850e387550fdab836ed7e6dc881de23001b.css|\
            main.3f786850.js|app-3f786850.js.map|app-3f786850.digested.js";
        for name in texts.split('|') {
            assert!(is_fingerprinted(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        let texts = "app.js|report-20261122.pdf|3f786850.js|app-3f78685.js|app-3F786850.js|\
            x-deadbeef.js|3f786850/app.js|app-3f786850|app-3f786850x.js|";
        for name in texts.split('|') {
            assert!(!is_fingerprinted(name.as_bytes()), "{name}");
        }
    }
}
