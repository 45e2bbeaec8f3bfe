use std::collections::HashMap;

use rb_sys::VALUE;

/// How often each fiber has been refused, by its object id: a fiber's address belongs to another object when the fiber has
/// been collected.
#[derive(Default)]
pub(super) struct Refusals(HashMap<VALUE, u32>);

impl Refusals {
    pub(super) fn count(&mut self, fiber_id: VALUE) -> u32 {
        let refusals = self.0.entry(fiber_id).or_default();
        *refusals = refusals.saturating_add(1);
        *refusals
    }
}
