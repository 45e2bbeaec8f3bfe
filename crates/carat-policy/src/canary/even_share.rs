/// Picks a percentage of a sequence, as evenly as possible: 25 % is every fourth, not a random quarter.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvenShare {
    credit: u32,
}

impl EvenShare {
    /// Whether the next one is picked.
    pub fn picks(&mut self, percent: u8) -> bool {
        self.credit += u32::from(percent);
        let is_picked = self.credit >= 100;
        if is_picked {
            self.credit -= 100;
        }
        is_picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_hundred_in_a_row_have_the_share() {
        for percent in 1..100_u8 {
            let mut share = EvenShare::default();
            let picks: Vec<bool> = (0..300).map(|_| share.picks(percent)).collect();
            for hundred in picks.windows(100) {
                let picked = hundred.iter().filter(|it| **it).count();
                assert_eq!(picked, usize::from(percent));
            }
        }
    }

    #[test]
    fn the_picks_are_even() {
        let mut share = EvenShare::default();
        let picks: Vec<usize> = (1..=20).filter(|_| share.picks(25)).collect();
        assert_eq!(picks, [4, 8, 12, 16, 20]);
    }
}
