use super::DecodeError;

/// How many decoded bytes are allowed before [`DecodeLimits::ratio`] applies, since a small,
/// repetitive body may compress to almost nothing.
pub const RATIO_GRACE: u64 = 1024 * 1024;

/// Limits on the decoded size of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DecodeLimits {
    /// The most decoded bytes.
    pub size: u64,
    /// The most decoded bytes for each encoded one, beyond [`RATIO_GRACE`].
    pub ratio: u64,
}

impl DecodeLimits {
    /// Checks that `coded` bytes may decode to `decoded` bytes.
    pub(super) fn check(self, coded: u64, decoded: u64) -> Result<(), DecodeError> {
        if decoded > self.size {
            return Err(DecodeError::TooLarge);
        }
        if decoded > RATIO_GRACE && decoded > coded.saturating_mul(self.ratio) {
            return Err(DecodeError::TooDense);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_counts_from_the_first_byte_and_the_ratio_after_the_grace() {
        let limits = DecodeLimits {
            size: 10 * RATIO_GRACE,
            ratio: 100,
        };
        assert_eq!(limits.check(1, RATIO_GRACE), Ok(()));
        assert_eq!(limits.check(1, RATIO_GRACE + 1), Err(DecodeError::TooDense));
        assert_eq!(limits.check(20_000, 2_000_000), Ok(()));
        assert_eq!(limits.check(20_000, 2_000_001), Err(DecodeError::TooDense));
        assert_eq!(limits.check(u64::MAX, limits.size), Ok(()));
        let found = limits.check(u64::MAX, limits.size + 1);
        assert_eq!(found, Err(DecodeError::TooLarge));
        let small = DecodeLimits { size: 3, ratio: 1 };
        assert_eq!(small.check(1, 3), Ok(()));
        assert_eq!(small.check(1, 4), Err(DecodeError::TooLarge));
    }
}
