//! The account of each live object, by the address of its slot.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::address_hasher::AddressHasher;

/// Ruby's heap pages have at least this size and alignment: Ruby 3.1's have it, later ones four times as much.
const PAGE_BYTES: u64 = 16 * 1024;
/// No slot is smaller, so no two begin in the same cell.
const CELL_BYTES: u64 = 32;
const CELLS: usize = (PAGE_BYTES / CELL_BYTES) as usize;

/// The account of objects that nobody has noted.
pub(crate) const EARLIER: u32 = 0;

/// The accounts of the objects in a heap page.
struct PageAccounts {
    accounts: [u32; CELLS],
    /// How many objects have an account.
    booked: u32,
    /// Whether no object was noted since the last one with an account was forgotten: the page may be another one by then,
    /// which Ruby has made where it had freed this one.
    is_fresh: bool,
}

/// A table for each heap page that has noted objects.
#[derive(Default)]
pub(crate) struct Slots {
    pages: HashMap<u64, Box<PageAccounts>, BuildHasherDefault<AddressHasher>>,
}

impl Slots {
    /// Notes the account of a new object. Returns whether it is the first in its page.
    pub(crate) fn note(&mut self, address: u64, account: u32) -> bool {
        let page = self.pages.entry(address / PAGE_BYTES).or_default();
        page.replace(address, account);
        std::mem::take(&mut page.is_fresh)
    }

    /// Returns the account of an object.
    pub(crate) fn find(&self, address: u64) -> u32 {
        let page = self.pages.get(&(address / PAGE_BYTES));
        page.map_or(EARLIER, |page| page.accounts[cell(address)])
    }

    /// Forgets an object and returns its account.
    pub(crate) fn take(&mut self, address: u64) -> u32 {
        let Some(page) = self.pages.get_mut(&(address / PAGE_BYTES)) else {
            return EARLIER;
        };
        let account = page.replace(address, EARLIER);
        page.is_fresh |= account != EARLIER && page.booked == 0;
        account
    }
}

impl Default for PageAccounts {
    fn default() -> PageAccounts {
        PageAccounts {
            accounts: [EARLIER; CELLS],
            booked: 0,
            is_fresh: true,
        }
    }
}

impl PageAccounts {
    /// Returns the account that the slot had.
    fn replace(&mut self, address: u64, account: u32) -> u32 {
        let old = std::mem::replace(&mut self.accounts[cell(address)], account);
        self.booked += u32::from(account != EARLIER);
        self.booked -= u32::from(old != EARLIER);
        old
    }
}

fn cell(address: u64) -> usize {
    usize::try_from(address % PAGE_BYTES / CELL_BYTES).unwrap_or(0)
}
