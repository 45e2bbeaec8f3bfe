//! Accounts of memory: which file, or which line, has made the objects that are still there.
//!
//! An object belongs to the account that was the payer when it was made, and leaves that account when it is freed,
//! whoever is the payer then. Blocks of malloc do the same in `block_map`.

use std::time::{Duration, Instant};

use crate::ledger::slots::{EARLIER, Slots};

/// What one file or line has made and nobody has freed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Account {
    /// The account during which this one was opened.
    pub(crate) parent: u32,
    /// Bytes of the heap slots that hold its objects.
    pub(crate) slots: i64,
    pub(crate) objects: i64,
    pub(crate) strings: i64,
    /// How long it was the current account.
    pub(crate) time: Duration,
}

/// An object of Ruby's heap.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    pub(crate) address: u64,
    /// The size of its slot.
    pub(crate) bytes: i64,
    pub(crate) string: bool,
}

/// All accounts. The first is that of what is older than the ledger, the second that of everything outside of files and
/// lines, the third that of the collector.
pub(crate) struct MemoryLedger {
    accounts: Vec<Account>,
    slots: Slots,
    current: u32,
    /// Whether the collector works.
    collects: bool,
    since: Instant,
}

/// The account of everything outside of files and lines.
pub(crate) const ROOT: u32 = 1;
/// The account of what the collector allocates for itself: its mark stack, and what it notes of each page.
pub(crate) const COLLECTOR: u32 = 2;
/// How many accounts are there from the beginning.
pub(crate) const FIRST: usize = 3;

impl MemoryLedger {
    pub(crate) fn new() -> MemoryLedger {
        MemoryLedger {
            accounts: vec![Account::default(); FIRST],
            slots: Slots::default(),
            current: ROOT,
            collects: false,
            since: Instant::now(),
        }
    }

    /// Opens an account and makes it the current one. Returns its number.
    pub(crate) fn open(&mut self) -> u32 {
        self.pass_time();
        let parent = self.current;
        self.current = self.add(parent);
        self.current
    }

    /// Makes the parent of an account the current one.
    pub(crate) fn close(&mut self, number: u32) {
        self.pass_time();
        self.current = self.account(number).parent.max(ROOT);
    }

    /// Opens an account that does not become the current one. Returns its number.
    pub(crate) fn add(&mut self, parent: u32) -> u32 {
        let number = u32::try_from(self.accounts.len()).unwrap_or(ROOT);
        self.accounts.push(Account {
            parent,
            ..Account::default()
        });
        number
    }

    /// The account of a live object.
    pub(crate) fn account_of(&self, address: u64) -> u32 {
        self.slots.find(address)
    }

    /// The account of what is allocated now.
    pub(crate) fn payer(&self) -> u32 {
        if self.collects {
            COLLECTOR
        } else {
            self.current
        }
    }

    /// Notes an object that was booked before at another address.
    pub(crate) fn note(&mut self, address: u64, account: u32) {
        let _ = self.slots.note(address, account);
    }

    /// Forgets where objects are, not what they weigh.
    pub(crate) fn forget_addresses(&mut self) {
        self.slots = Slots::default();
    }

    /// Books a new object. Returns whether it is the first in its page.
    pub(crate) fn born(&mut self, object: Object, account: u32) -> bool {
        let is_first = self.slots.note(object.address, account);
        if account != EARLIER {
            self.enter(account, object, 1);
        }
        is_first
    }

    /// Books an object that the collector is about to free.
    pub(crate) fn dies(&mut self, object: Object) {
        let account = self.slots.take(object.address);
        if account != EARLIER {
            self.enter(account, object, -1);
        }
    }

    /// Notes that the collector begins to work, or hands back to the program.
    pub(crate) fn collect(&mut self, collects: bool) {
        self.collects = collects;
    }

    /// Whether the collector works.
    pub(crate) fn collects(&self) -> bool {
        self.collects
    }

    /// A copy of the accounts.
    pub(crate) fn balance(&mut self) -> Vec<Account> {
        self.pass_time();
        self.accounts.clone()
    }

    fn enter(&mut self, number: u32, object: Object, sign: i64) {
        let account = self.account(number);
        account.slots += sign * object.bytes;
        account.objects += sign;
        account.strings += sign * i64::from(object.string);
    }

    fn pass_time(&mut self) {
        let now = Instant::now();
        let passed = now.duration_since(self.since);
        let current = self.current;
        self.account(current).time += passed;
        self.since = now;
    }

    /// An unknown number is that of the account of older objects.
    fn account(&mut self, number: u32) -> &mut Account {
        let known = (number as usize) < self.accounts.len();
        &mut self.accounts[if known { number as usize } else { 0 }]
    }
}
