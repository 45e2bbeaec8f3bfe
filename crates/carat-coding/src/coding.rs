/// A supported content coding (RFC 9110 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 1950, which HTTP calls deflate.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878, any number of frames.
    Zstd,
}

impl Coding {
    /// The name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    /// The coding with this name, ignoring case; `x-gzip` is gzip (RFC 9110 8.4.1.3).
    pub fn named(name: &[u8]) -> Option<Coding> {
        const NAMES: [(&[u8], Coding); 5] = [
            (b"gzip", Coding::Gzip),
            (b"deflate", Coding::Deflate),
            (b"br", Coding::Brotli),
            (b"zstd", Coding::Zstd),
            (b"x-gzip", Coding::Gzip),
        ];
        let found = NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|&(_, coding)| coding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_finds_its_coding_in_any_case() {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            assert_eq!(Coding::named(coding.name().as_bytes()), Some(coding));
            let loud = coding.name().to_uppercase();
            assert_eq!(Coding::named(loud.as_bytes()), Some(coding));
        }
        assert_eq!(Coding::named(b"X-GZip"), Some(Coding::Gzip));
        assert_eq!(Coding::named(b"compress"), None);
        assert_eq!(Coding::named(b"identity"), None);
    }
}
