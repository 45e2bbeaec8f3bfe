use std::cmp::Reverse;

use carat_fields::{FULL_WEIGHT, Weight, weight};

use crate::Coding;

/// A header with more bytes than this in all its lines is ignored: a browser sends 23 bytes, and 8 KB of
/// `*;q=` take Rack 170 ms (CVE-2026-34230).
const BYTES_LIMIT: usize = 1024;

/// A header with more entries than this is ignored.
const ENTRIES_LIMIT: usize = 32;

/// The codings of a response, the server's favorite first: zstd is five times as fast as the others at
/// about the same size, and br is smaller than gzip.
const NAMED: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

/// The order of preference for codings that a client accepts by `*` alone: such a client may not
/// support the newer codings.
const UNNAMED: [Coding; 3] = [Coding::Gzip, Coding::Brotli, Coding::Zstd];

/// Chooses the coding of a response from the lines of `Accept-Encoding`; `None` for no coding (RFC 9110
/// 12.5.3).
///
/// A client that refuses an unencoded response (`identity;q=0`) and accepts no supported coding
/// gets an unencoded response anyway: that is probably more useful than a 406.
///
/// ```
/// use carat_coding::{Coding, negotiate};
///
/// assert_eq!(negotiate([&b"gzip, deflate, br"[..]]), Some(Coding::Brotli));
/// assert_eq!(negotiate([&b"gzip;q=1.0, *;q=0.5"[..]]), Some(Coding::Gzip));
/// assert_eq!(negotiate([&b"identity"[..]]), None);
/// ```
pub fn negotiate<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Option<Coding> {
    AcceptedCodings::read(lines).iter().next()
}

/// The codings that a client prefers to an unencoded response, the best one first.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct AcceptedCodings([Option<Coding>; 3]);

impl AcceptedCodings {
    /// Reads the lines of `Accept-Encoding` as [`negotiate`] does.
    ///
    /// ```
    /// use carat_coding::{AcceptedCodings, Coding};
    ///
    /// let codings = AcceptedCodings::read([&b"gzip, br;q=0.5"[..]]);
    /// assert!(codings.iter().eq([Coding::Gzip, Coding::Brotli]));
    /// ```
    pub fn read<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> AcceptedCodings {
        let Some(preferences) = Preferences::read(lines) else {
            return AcceptedCodings::default();
        };
        let mut ranked = [(None, Coding::Gzip); NAMED.len() + UNNAMED.len()];
        let named = NAMED.map(|coding| (preferences.named(coding), coding));
        let unnamed = UNNAMED.map(|coding| (preferences.unnamed(coding), coding));
        let wishes = named.into_iter().chain(unnamed);
        ranked
            .iter_mut()
            .zip(wishes)
            .for_each(|(slot, wish)| *slot = wish);
        // The sort is stable: codings of equal quality stay in the order of the arrays.
        ranked.sort_by_key(|&(quality, _)| Reverse(quality));
        let worst = preferences.identity.unwrap_or(0).max(1);
        let wanted = ranked.iter().filter(|(quality, _)| *quality >= Some(worst));
        let mut codings = AcceptedCodings::default();
        for (slot, &(_, coding)) in codings.0.iter_mut().zip(wanted) {
            *slot = Some(coding);
        }
        codings
    }

    /// The codings in this order.
    pub fn iter(self) -> impl Iterator<Item = Coding> {
        self.0.into_iter().flatten()
    }
}

/// The quality of each coding. When a client repeats a coding, the lowest value counts.
#[derive(Default)]
struct Preferences {
    gzip: Option<Weight>,
    brotli: Option<Weight>,
    zstd: Option<Weight>,
    identity: Option<Weight>,
    any: Option<Weight>,
}

impl Preferences {
    /// `None` when the header exceeds a limit.
    fn read<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Option<Preferences> {
        let (mut bytes, mut entries) = (0, 0);
        let mut preferences = Preferences::default();
        for line in lines {
            bytes += line.len();
            if bytes > BYTES_LIMIT {
                return None;
            }
            for entry in line.split(|&byte| byte == b',') {
                entries += 1;
                if entries > ENTRIES_LIMIT {
                    return None;
                }
                preferences.note(entry);
            }
        }
        Some(preferences)
    }

    /// Takes one entry, unless it is malformed.
    fn note(&mut self, entry: &[u8]) {
        let mut parts = entry.splitn(2, |&byte| byte == b';');
        let name = parts.next().unwrap_or_default().trim_ascii();
        let quality = parts.next().map_or(Some(FULL_WEIGHT), weight);
        let (Some(slot), Some(quality)) = (self.slot(name), quality) else {
            return;
        };
        *slot = Some(slot.map_or(quality, |noted| noted.min(quality)));
    }

    fn slot(&mut self, name: &[u8]) -> Option<&mut Option<Weight>> {
        if name == b"*" {
            return Some(&mut self.any);
        }
        if name.eq_ignore_ascii_case(b"identity") {
            return Some(&mut self.identity);
        }
        match Coding::named(name)? {
            Coding::Gzip => Some(&mut self.gzip),
            Coding::Brotli => Some(&mut self.brotli),
            Coding::Zstd => Some(&mut self.zstd),
            // Ambiguous: half of the clients expect the zlib format, the others a bare stream.
            Coding::Deflate => None,
        }
    }

    fn named(&self, coding: Coding) -> Option<Weight> {
        match coding {
            Coding::Gzip => self.gzip,
            Coding::Brotli => self.brotli,
            Coding::Zstd => self.zstd,
            Coding::Deflate => None,
        }
    }

    /// The quality of `*`, for a coding that is not named.
    fn unnamed(&self, coding: Coding) -> Option<Weight> {
        self.any.filter(|_| self.named(coding).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(header: &str) -> Option<Coding> {
        negotiate([header.as_bytes()])
    }

    #[test]
    fn equal_wishes_are_decided_by_the_server() {
        assert_eq!(choice("gzip, deflate, br, zstd"), Some(Coding::Zstd));
        assert_eq!(choice("gzip, deflate, br"), Some(Coding::Brotli));
        assert_eq!(choice("gzip, deflate"), Some(Coding::Gzip));
        assert_eq!(choice("br;q=0.5,gzip;q=0.5"), Some(Coding::Brotli));
    }

    #[test]
    fn the_greatest_weight_wins() {
        assert_eq!(choice("zstd;q=0.8, br;q=0.9, gzip"), Some(Coding::Gzip));
        assert_eq!(choice("gzip;q=0.001"), Some(Coding::Gzip));
        assert_eq!(choice("gzip;q=0.5, br;q=0.501"), Some(Coding::Brotli));
    }

    #[test]
    fn nothing_wished_is_nothing_done() {
        assert_eq!(negotiate([]), None);
        for header in ["", " ", ",", "identity", "deflate", "compress, x", "*;q=0"] {
            assert_eq!(choice(header), None, "{header}");
        }
    }

    #[test]
    fn what_is_refused_is_not_sent() {
        assert_eq!(choice("gzip;q=0"), None);
        assert_eq!(choice("gzip;q=0.000, br"), Some(Coding::Brotli));
        assert_eq!(choice("*, gzip;q=0, br;q=0"), Some(Coding::Zstd));
        assert_eq!(choice("gzip, gzip;q=0"), None);
    }

    #[test]
    fn anything_means_the_coding_that_everybody_has() {
        assert_eq!(choice("*"), Some(Coding::Gzip));
        assert_eq!(choice("*, br"), Some(Coding::Brotli));
        assert_eq!(choice("gzip;q=0.5, *"), Some(Coding::Brotli));
        assert_eq!(choice("gzip;q=0.5, *;q=0"), Some(Coding::Gzip));
    }

    #[test]
    fn no_coding_is_a_choice_like_the_others() {
        assert_eq!(choice("identity, gzip;q=0.9"), None);
        assert_eq!(choice("identity;q=0.5, gzip;q=0.9"), Some(Coding::Gzip));
        assert_eq!(choice("identity, gzip"), Some(Coding::Gzip));
        assert_eq!(choice("identity;q=0, gzip;q=0.1"), Some(Coding::Gzip));
        assert_eq!(choice("identity;q=0, *"), Some(Coding::Gzip));
        assert_eq!(choice("identity;q=0"), None);
        assert_eq!(choice("identity;q=0, *;q=0"), None);
    }

    #[test]
    fn case_space_and_lines_do_not_matter() {
        assert_eq!(choice("GZip"), Some(Coding::Gzip));
        assert_eq!(choice("x-gzip"), Some(Coding::Gzip));
        let found = choice("\tbr \t; Q=0.3 ,, gzip ;q=0.2");
        assert_eq!(found, Some(Coding::Brotli));
        let lines = [&b"gzip;q=0.1"[..], b"", b"zstd;q=0", b"br;q=0.2"];
        assert_eq!(negotiate(lines), Some(Coding::Brotli));
    }

    #[test]
    fn a_malformed_entry_says_nothing() {
        let texts = "gzip;q=|gzip;q|gzip;|gzip;q=2|gzip;q=1.001|gzip;q=-1|gzip;q=0.5x|gzip;q=.5|\
            gzip;level=9|gzip;q=1;q=1|gz ip|*;q=";
        for header in texts.split('|') {
            assert_eq!(choice(header), None, "{header}");
            let header = format!("{header}, br;q=0.1");
            assert_eq!(choice(&header), Some(Coding::Brotli), "{header}");
        }
        assert_eq!(choice("gzip;q=1.000, br;q=0.9999"), Some(Coding::Gzip));
    }

    #[test]
    fn a_header_longer_than_anybodys_is_not_looked_at() {
        let longest = format!("gzip{}", " ".repeat(BYTES_LIMIT - 4));
        assert_eq!(choice(&longest), Some(Coding::Gzip));
        assert_eq!(choice(&format!("{longest} ")), None);
        assert_eq!(negotiate([longest.as_bytes(), b"x"]), None);
        let most = format!("gzip{}", ",".repeat(ENTRIES_LIMIT - 1));
        assert_eq!(choice(&most), Some(Coding::Gzip));
        assert_eq!(choice(&format!("{most},")), None);
        assert_eq!(choice(&"*;q=".repeat(2048)), None);
    }
}
