use std::ops::Range;

/// The most ranges of one request; a client that requests more gets the complete content.
pub const RANGES_LIMIT: usize = 32;

/// The bytes that a `Range` header requests of a content of known length (RFC 9110, 14.1.2 and 14.2).
#[derive(Debug, PartialEq, Eq)]
pub enum RequestedRanges {
    /// Everything: the header is malformed, uses another unit, or has too many ranges.
    Whole,
    /// Only bytes beyond the end.
    Unsatisfiable,
    /// The wanted bytes, at least one range. No range is empty and no two touch, so together they never
    /// exceed the content. They are in the order of the request.
    Parts(Vec<Range<u64>>),
}

impl RequestedRanges {
    /// Parses the header. An empty content has no ranges: the header is ignored.
    pub fn of(header: &[u8], length: u64) -> RequestedRanges {
        let Some(specs) = specs(header).filter(|_| length > 0) else {
            return RequestedRanges::Whole;
        };
        let mut parts = Vec::new();
        for range in specs.iter().filter_map(|spec| spec.within(length)) {
            add(&mut parts, range);
        }
        if parts.is_empty() {
            RequestedRanges::Unsatisfiable
        } else {
            RequestedRanges::Parts(parts)
        }
    }
}

/// A range of the header.
#[derive(Clone, Copy)]
enum RangeSpec {
    /// From one byte to another, inclusive; `u64::MAX` is the last.
    Between(u64, u64),
    /// A number of bytes at the end.
    Last(u64),
}

/// The ranges of a header, at least one; `None` when the header is ignored.
fn specs(header: &[u8]) -> Option<Vec<RangeSpec>> {
    let (unit, set) = header.split_at_checked(b"bytes=".len())?;
    if !unit.eq_ignore_ascii_case(b"bytes=") {
        return None;
    }
    let mut specs = Vec::new();
    // A list may have empty members (RFC 9110, 5.6.1.2).
    let members = set.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    for member in members.filter(|member| !member.is_empty()) {
        if specs.len() == RANGES_LIMIT {
            return None;
        }
        specs.push(RangeSpec::parse(member)?);
    }
    (!specs.is_empty()).then_some(specs)
}

impl RangeSpec {
    fn parse(text: &[u8]) -> Option<RangeSpec> {
        let dash = text.iter().position(|byte| *byte == b'-')?;
        let (first, last) = (&text[..dash], &text[dash + 1..]);
        if first.is_empty() {
            return number(last).map(RangeSpec::Last);
        }
        let first = number(first)?;
        let last = if last.is_empty() {
            u64::MAX
        } else {
            number(last)?
        };
        (first <= last).then_some(RangeSpec::Between(first, last))
    }

    /// The range within a content of this length, unless it is empty.
    fn within(self, length: u64) -> Option<Range<u64>> {
        let range = match self {
            RangeSpec::Between(first, last) => first..last.saturating_add(1).min(length),
            RangeSpec::Last(count) => length.saturating_sub(count)..length,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// Parses a number of any size: what exceeds a `u64` exceeds every file.
fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let append = |number: u64, digit: &u8| {
        let digit = u64::from(digit - b'0');
        number.saturating_mul(10).saturating_add(digit)
    };
    Some(text.iter().fold(0, append))
}

/// Adds a range and merges it with those that it touches, at the index of the first of them.
fn add(parts: &mut Vec<Range<u64>>, mut range: Range<u64>) {
    let mut index = parts.len();
    let touches =
        |part: &Range<u64>, range: &Range<u64>| part.start <= range.end && range.start <= part.end;
    while let Some(at) = parts.iter().position(|part| touches(part, &range)) {
        let part = parts.remove(at);
        range = part.start.min(range.start)..part.end.max(range.end);
        index = index.min(at);
    }
    parts.insert(index, range);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(header: &str) -> RequestedRanges {
        RequestedRanges::of(header.as_bytes(), 1000)
    }

    fn parts(parts: &[(u64, u64)]) -> RequestedRanges {
        RequestedRanges::Parts(parts.iter().map(|(start, end)| *start..*end).collect())
    }

    #[test]
    fn one_range_is_what_it_says_and_ends_with_the_content() {
        assert_eq!(asked("bytes=0-499"), parts(&[(0, 500)]));
        assert_eq!(asked("bytes=999-999"), parts(&[(999, 1000)]));
        assert_eq!(asked("bytes=500-"), parts(&[(500, 1000)]));
        assert_eq!(asked("bytes=500-5000"), parts(&[(500, 1000)]));
        assert_eq!(asked("bytes=-1"), parts(&[(999, 1000)]));
        assert_eq!(asked("bytes=-5000"), parts(&[(0, 1000)]));
        let found = asked("bytes=7-99999999999999999999999999");
        assert_eq!(found, parts(&[(7, 1000)]));
        let found = asked("Bytes=00000000000000000000000001-2");
        assert_eq!(found, parts(&[(1, 3)]));
    }

    #[test]
    fn several_ranges_keep_their_order_and_those_that_touch_become_one() {
        let found = asked("bytes=500-600, 0-10 ,,\t-5");
        assert_eq!(found, parts(&[(500, 601), (0, 11), (995, 1000)]));
        assert_eq!(asked("bytes=0-10,11-20"), parts(&[(0, 21)]));
        let found = asked("bytes=900-,0-10,100-200,5-150");
        assert_eq!(found, parts(&[(900, 1000), (0, 201)]));
        assert_eq!(asked("bytes=5-6,0-1,2-4"), parts(&[(0, 7)]));
        assert_eq!(asked("bytes=0-,0-,-1000"), parts(&[(0, 1000)]));
    }

    #[test]
    fn ranges_beyond_the_end_do_not_count() {
        for header in ["bytes=1000-", "bytes=1000-2000,-0", "bytes=-0"] {
            assert_eq!(asked(header), RequestedRanges::Unsatisfiable, "{header}");
        }
        assert_eq!(asked("bytes=1000-,3-4"), parts(&[(3, 5)]));
    }

    #[test]
    fn a_header_that_is_malformed_or_in_another_unit_asks_for_the_whole() {
        let texts = "|bytes|bytes=|bytes=,|bytes=-|bytes=a-b|bytes=1|bytes=5-4|bytes=0-1,5-4|\
            bytes=0-1,x|bytes=--1|bytes=1-2-3|bytes=+1-2|bytes=1 -2|bytes = 0-1|\
            bytes =0-1| bytes=0-1|lines=0-1|octets=0-1|bytes:0-1|bytes=0x1-2|\
            bytes=1-2;q=1";
        for header in texts.split('|') {
            assert_eq!(asked(header), RequestedRanges::Whole, "{header}");
        }
    }

    #[test]
    fn nothing_is_cut_out_of_an_empty_content() {
        for header in ["bytes=0-", "bytes=-1", "bytes=0-0,-1"] {
            let found = RequestedRanges::of(header.as_bytes(), 0);
            assert_eq!(found, RequestedRanges::Whole);
        }
    }

    #[test]
    fn more_ranges_than_the_limit_are_the_whole() {
        let header = |count| format!("bytes={}", vec!["0-0"; count].join(","));
        assert_eq!(asked(&header(RANGES_LIMIT)), parts(&[(0, 1)]));
        assert_eq!(asked(&header(RANGES_LIMIT + 1)), RequestedRanges::Whole);
    }

    proptest! {
        #[test]
        fn each_byte_that_is_asked_for_is_in_a_part_and_no_other(
            asked in prop::collection::vec((0_u64..60, 0_u64..60), 1..RANGES_LIMIT),
            length in 1_u64..50,
        ) {
            let ranges: Vec<_> = asked.iter().map(|(a, b)| *a.min(b)..=*a.max(b)).collect();
            let list: Vec<_> = ranges.iter().map(|r| format!("{}-{}", r.start(), r.end())).collect();
            let parts = match RequestedRanges::of(format!("bytes={}", list.join(",")).as_bytes(), length) {
                RequestedRanges::Parts(parts) => parts,
                RequestedRanges::Unsatisfiable => Vec::new(),
                RequestedRanges::Whole => unreachable!("well formed"),
            };
            for byte in 0..length {
                let is_asked = ranges.iter().any(|range| range.contains(&byte));
                prop_assert_eq!(parts.iter().any(|part| part.contains(&byte)), is_asked);
            }
        }
    }
}
