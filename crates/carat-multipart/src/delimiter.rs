use memchr::{memchr_iter, memmem};

/// The bytes that separate two parts: CRLF, two hyphens, and the boundary. CR is only their first
/// byte.
pub(crate) struct Delimiter {
    bytes: Vec<u8>,
    finder: memmem::Finder<'static>,
}

impl Delimiter {
    pub(crate) fn new(boundary: &[u8]) -> Delimiter {
        let bytes = [b"\r\n--", boundary].concat();
        Delimiter {
            finder: memmem::Finder::new(&bytes).into_owned(),
            bytes,
        }
    }

    /// The delimiter followed by `tail`.
    pub(crate) fn with(&self, tail: &[u8]) -> Vec<u8> {
        [&self.bytes, tail].concat()
    }

    /// The delimiter without its CRLF.
    pub(crate) fn bare(&self) -> &[u8] {
        &self.bytes[2..]
    }

    /// The index in `input` where a delimiter begins or may begin; the length of `input` without one.
    pub(crate) fn candidate(&self, input: &[u8]) -> usize {
        if let Some(index) = self.finder.find(input) {
            return index;
        }
        let tail = input.len().saturating_sub(self.bytes.len() - 1);
        memchr_iter(b'\r', &input[tail..])
            .map(|index| tail + index)
            .find(|index| self.bytes.starts_with(&input[*index..]))
            .unwrap_or(input.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_is_a_whole_delimiter_or_the_beginning_of_one_at_the_end() {
        let delimiter = Delimiter::new(b"xyz");
        for (input, index) in [
            ("", 0),
            ("abc", 3),
            ("a\r\n--xyz", 1),
            ("a\r\n--xyzb\r\n--xyz", 1),
            ("a\r\n--xy", 1),
            ("a\r\n--x\r", 6),
            ("a\r", 1),
            ("\r\r\n", 1),
            ("\r\n--xz", 6),
            ("--xyz", 5),
        ] {
            assert_eq!(delimiter.candidate(input.as_bytes()), index, "{input:?}");
        }
    }
}
