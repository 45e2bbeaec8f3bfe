//! The account of each live object, by the address of its slot.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use crate::address_hasher::AddressHasher;

/// Ruby's heap pages have at least this size and alignment: Ruby 3.1's have it, later ones four times as much.
const PAGE_BYTES: u64 = 16 * 1024;
/// No slot is smaller, so no two begin in the same cell.
const CELL_BYTES: u64 = 32;
const CELLS: usize = (PAGE_BYTES / CELL_BYTES) as usize;

/// The account of objects that nobody has noted.
pub(crate) const EARLIER: u32 = 0;

/// A table for each heap page that has noted objects.
#[derive(Default)]
pub(crate) struct Slots {
    pages: HashMap<u64, Box<[u32; CELLS]>, BuildHasherDefault<AddressHasher>>,
}

impl Slots {
    /// Notes the account of a new object. Returns whether it is the first in its page.
    pub(crate) fn note(&mut self, address: u64, account: u32) -> bool {
        let entry = self.pages.entry(address / PAGE_BYTES);
        let is_first = matches!(entry, Entry::Vacant(_));
        let page = entry.or_insert_with(|| Box::new([EARLIER; CELLS]));
        page[cell(address)] = account;
        is_first
    }

    /// Returns the account of an object.
    pub(crate) fn find(&self, address: u64) -> u32 {
        let page = self.pages.get(&(address / PAGE_BYTES));
        page.map_or(EARLIER, |page| page[cell(address)])
    }

    /// Forgets an object and returns its account.
    pub(crate) fn take(&mut self, address: u64) -> u32 {
        match self.pages.get_mut(&(address / PAGE_BYTES)) {
            Some(page) => std::mem::replace(&mut page[cell(address)], EARLIER),
            None => EARLIER,
        }
    }
}

fn cell(address: u64) -> usize {
    usize::try_from(address % PAGE_BYTES / CELL_BYTES).unwrap_or(0)
}
