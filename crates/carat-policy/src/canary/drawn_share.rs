/// Picks a percentage of a sequence by lot, so that no pattern in the sequence decides what is picked.
#[derive(Debug, Clone, Copy)]
pub struct DrawnShare {
    /// Of a xorshift generator; not 0.
    state: u64,
}

impl Default for DrawnShare {
    fn default() -> DrawnShare {
        DrawnShare {
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl DrawnShare {
    /// Whether the next one is picked.
    pub fn picks(&mut self, percent: u8) -> bool {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 32) % 100 < u64::from(percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_gets_its_share() {
        for (percent, period) in [(10_u8, 10_usize), (50, 2), (25, 4), (99, 3)] {
            let mut share = DrawnShare::default();
            let mut picked = vec![0_u32; period];
            for index in 0..period * 10_000 {
                picked[index % period] += u32::from(share.picks(percent));
            }
            let expected = u32::from(percent) * 100;
            for count in picked {
                assert!(count.abs_diff(expected) < 250, "{percent} %: {count}");
            }
        }
    }
}
