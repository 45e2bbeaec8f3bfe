/// Up to this number a logarithm of a factorial is a sum; above, Stirling's series is exact to eleven digits.
const SUMMED_FACTORIAL: u64 = 64;

/// How many of how many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) hits: u64,
    pub(super) of: u64,
}

/// The probability of at least as many hits in the second share as it has, if both have the same cause: Fisher's exact
/// test. 1 when its part of the hits is not above its part of the whole.
pub(super) fn chance_of_more(first: Share, second: Share) -> f64 {
    let (size, other) = (real(second.of), real(first.of));
    let hits = real(first.hits + second.hits);
    if real(second.hits) * (size + other) <= hits * size {
        return 1.0;
    }
    let total = first.hits + second.hits;
    let log = ln_choose(second.of, second.hits) + ln_choose(first.of, first.hits)
        - ln_choose(first.of + second.of, total);
    let (mut term, mut sum) = (log.exp(), 0.0);
    for count in second.hits..=total.min(second.of) {
        sum += term;
        if term <= sum * 1e-12 {
            break;
        }
        let count = real(count);
        let factor = (hits - count) * (size - count);
        term *= factor / ((count + 1.0) * (other - hits + count + 1.0));
    }
    sum
}

fn ln_choose(size: u64, count: u64) -> f64 {
    ln_factorial(size) - ln_factorial(count) - ln_factorial(size - count)
}

fn ln_factorial(number: u64) -> f64 {
    if number <= SUMMED_FACTORIAL {
        return (2..=number).map(|factor| real(factor).ln()).sum();
    }
    let value = real(number);
    let series = 1.0 / (12.0 * value) - 1.0 / (360.0 * value.powi(3));
    (value + 0.5) * value.ln() - value + std::f64::consts::TAU.ln() / 2.0 + series
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of requests are far below 2 to the 53"
)]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(first: (u64, u64), second: (u64, u64)) -> f64 {
        let [first, second] = [first, second].map(|(hits, of)| Share { hits, of });
        chance_of_more(first, second)
    }

    /// Computed with whole numbers; the second one is Fisher's own, of the lady who tastes tea.
    #[test]
    fn it_is_that_of_the_textbook() {
        let known = [
            ((2, 20), (8, 20), 0.032_416_580_803_677_576),
            ((1, 4), (3, 4), 0.242_857_142_857_142_85),
            ((0, 4500), (3, 500), 0.000_994_604_683_241_570_4),
            ((0, 4500), (5, 500), 9.821_024_306_947_898e-6),
            ((180, 4500), (30, 500), 0.027_036_391_901_530_142),
            ((0, 10), (10, 10), 5.412_544_112_234_515e-6),
        ];
        for (first, second, expected) in known {
            let found = chance(first, second);
            assert!((found / expected - 1.0).abs() < 1e-7, "{found}: {expected}");
        }
    }

    #[test]
    fn not_more_than_its_part_is_no_surprise() {
        for (first, second) in [
            ((0, 9), (0, 1)),
            ((9, 9), (1, 1)),
            ((3, 10), (1, 10)),
            ((0, 0), (5, 5)),
        ] {
            let found = chance(first, second);
            assert!((found - 1.0).abs() < f64::EPSILON, "{found}");
        }
    }
}
