//! Numbers as text.

/// Room for the digits of any `u64`.
pub const DIGITS: usize = 20;

/// The decimal digits of `number`, at the end of `digits`.
pub fn decimal(mut number: u64, digits: &mut [u8; DIGITS]) -> &[u8] {
    let mut start = DIGITS;
    loop {
        start -= 1;
        // A digit fits into a byte.
        digits[start] = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_without_leading_zeros() {
        for number in [0, 7, 10, 443, 65_535, u64::MAX] {
            let mut digits = [0; DIGITS];
            assert_eq!(decimal(number, &mut digits), number.to_string().as_bytes());
        }
    }
}
