use std::fmt;

/// An amount of memory that displays as whole mebibytes, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MiB", self.0.div_ceil(1 << 20))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_in_whole_mebibytes_and_rounded_up() {
        let sizes = [0, 1, 150 << 20, (150 << 20) + 1].map(|bytes| ByteSize(bytes).to_string());
        assert_eq!(sizes, ["0 MiB", "1 MiB", "150 MiB", "151 MiB"]);
    }
}
