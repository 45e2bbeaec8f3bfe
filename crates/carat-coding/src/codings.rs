use crate::Coding;

/// The most codings that may be applied to one body: each needs its own window to decode.
pub const CODINGS_LIMIT: usize = 2;

/// The codings of a body, in the order in which they were applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Codings(Vec<Coding>);

/// A `Content-Encoding` with an unknown coding, or with more than [`CODINGS_LIMIT`] of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported;

impl Codings {
    /// Parses `Content-Encoding`, one value for each line of the header (RFC 9110 8.4).
    ///
    /// `identity` and empty list elements are ignored (RFC 9110 8.4.1 and 5.6.1).
    ///
    /// ```
    /// use carat_coding::{Coding, Codings, Unsupported};
    ///
    /// let codings = Codings::of([b"gzip, BR".as_slice()]).expect("known codings");
    /// assert_eq!(codings.applied(), [Coding::Gzip, Coding::Brotli]);
    /// assert_eq!(Codings::of([b"rot13".as_slice()]), Err(Unsupported));
    /// ```
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Result<Codings, Unsupported> {
        let mut applied = Vec::new();
        let elements = lines
            .into_iter()
            .flat_map(|line| line.split(|&byte| byte == b','));
        for element in elements.map(trim) {
            if element.is_empty() || element.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            if applied.len() == CODINGS_LIMIT {
                return Err(Unsupported);
            }
            applied.push(Coding::named(element).ok_or(Unsupported)?);
        }
        Ok(Codings(applied))
    }

    /// The codings in the order in which they were applied; empty for a plain body.
    pub fn applied(&self) -> &[Coding] {
        &self.0
    }
}

/// Strips optional whitespace from both ends (RFC 9110 5.6.3).
fn trim(element: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = element.iter().take_while(|byte| blank(byte)).count();
    let rest = &element[start..];
    let end = rest.iter().rev().take_while(|byte| blank(byte)).count();
    &rest[..rest.len() - end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Result<Vec<Coding>, Unsupported> {
        Codings::of(lines.iter().map(|line| line.as_bytes())).map(|codings| codings.0)
    }

    #[test]
    fn the_order_is_that_of_the_header() {
        assert_eq!(of(&["gzip"]), Ok(vec![Coding::Gzip]));
        assert_eq!(of(&["zstd, br"]), Ok(vec![Coding::Zstd, Coding::Brotli]));
        assert_eq!(of(&["zstd", "br"]), Ok(vec![Coding::Zstd, Coding::Brotli]));
        assert_eq!(of(&["gzip", "gzip"]), Ok(vec![Coding::Gzip, Coding::Gzip]));
    }

    #[test]
    fn case_and_whitespace_and_empty_elements_do_not_matter() {
        assert_eq!(of(&["\t GZIP ,, ,\tX-gzip , "]), Ok(vec![Coding::Gzip; 2]));
        assert_eq!(of(&["", ",", " , "]), Ok(vec![]));
    }

    #[test]
    fn identity_is_no_coding() {
        assert_eq!(of(&["identity"]), Ok(vec![]));
        assert_eq!(of(&["identity, br, Identity"]), Ok(vec![Coding::Brotli]));
    }

    #[test]
    fn an_unknown_coding_is_refused_wherever_it_stands() {
        for line in "compress|gzip, rot13|rot13, gzip|gzip;q=1|\"gzip\"|gz ip".split('|') {
            assert_eq!(of(&[line]), Err(Unsupported), "{line}");
        }
    }

    #[test]
    fn more_codings_than_the_limit_are_refused() {
        assert_eq!(of(&["gzip, gzip, gzip"]), Err(Unsupported));
        assert_eq!(of(&["gzip, br", "identity", "zstd"]), Err(Unsupported));
    }
}
