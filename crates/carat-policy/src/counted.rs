use std::fmt;

/// A number of things in a sentence for people; the noun takes an s in the plural.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counted(pub u64, pub &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_everything_else_plural() {
        let texts = [0, 1, 2].map(|number| Counted(number, "worker").to_string());
        assert_eq!(texts, ["0 workers", "1 worker", "2 workers"]);
    }
}
