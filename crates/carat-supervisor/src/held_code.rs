use serde::Serialize;

/// The workers of one code while a restart waits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HeldCode {
    /// The generation of its mold.
    pub generation: u32,
    /// How many take requests.
    pub workers: usize,
    /// How many died while they served.
    pub deaths: u32,
}
