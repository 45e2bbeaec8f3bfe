//! Accounts of memory: which part of the boot has allocated what is still there.
//!
//! Each change of the malloc counter is booked to one account. That is the account of the file that is being loaded,
//! except while the collector frees an object: then it is the account of the file that made the object.

use std::time::{Duration, Instant};

use crate::slots::{EARLIER, Slots};

/// What one file has allocated and nobody has freed. A file that frees more than it allocates has negative numbers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Account {
    /// The account during which this one was opened.
    pub(crate) parent: u32,
    /// Bytes of malloc.
    pub(crate) malloc: i64,
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

/// All accounts. The first is that of objects older than the ledger, the second that of everything outside of files,
/// the third that of the collector.
pub(crate) struct MemoryLedger {
    accounts: Vec<Account>,
    slots: Slots,
    current: u32,
    /// Pays for the next change of the counter.
    payer: u32,
    /// The counter at the last booking.
    counter: i64,
    since: Instant,
    /// Bytes that the ledger itself has allocated.
    own: i64,
}

/// The account of everything outside of files.
const ROOT: u32 = 1;
/// The account of what the collector allocates for itself, such as its mark stack.
const COLLECTOR: u32 = 2;
/// How many accounts are there from the beginning.
const FIRST: usize = 3;

impl MemoryLedger {
    /// `counter` is the present value of the malloc counter.
    pub(crate) fn new(counter: i64) -> MemoryLedger {
        MemoryLedger {
            accounts: vec![Account::default(); FIRST],
            slots: Slots::default(),
            current: ROOT,
            payer: ROOT,
            counter,
            since: Instant::now(),
            own: 0,
        }
    }

    /// Opens an account and makes it the current one. Returns its number.
    pub(crate) fn open(&mut self, counter: i64) -> u32 {
        self.pass_time();
        self.charge(counter, self.current);
        let number = u32::try_from(self.accounts.len()).unwrap_or(ROOT);
        self.accounts.push(Account {
            parent: self.current,
            ..Account::default()
        });
        self.current = number;
        self.payer = number;
        number
    }

    /// Makes the parent of an account the current one.
    pub(crate) fn close(&mut self, counter: i64, number: u32) {
        self.pass_time();
        self.current = self.account(number).parent.max(ROOT);
        self.charge(counter, self.current);
    }

    /// Opens an account without a parent, which does not become the current one. Returns its number.
    pub(crate) fn add(&mut self) -> u32 {
        let number = u32::try_from(self.accounts.len()).unwrap_or(ROOT);
        self.accounts.push(Account::default());
        number
    }

    /// Makes an account the current one.
    pub(crate) fn switch(&mut self, number: u32) {
        self.current = number;
        self.payer = number;
    }

    /// Books what has changed.
    pub(crate) fn settle(&mut self, counter: i64) {
        self.charge(counter, self.payer);
    }

    /// The account of a live object.
    pub(crate) fn account_of(&self, address: u64) -> u32 {
        self.slots.find(address)
    }

    /// The account that pays for the next change of the counter.
    pub(crate) fn payer(&self) -> u32 {
        self.payer
    }

    /// Notes an object that was booked before at another address.
    pub(crate) fn note(&mut self, address: u64, account: u32) {
        self.slots.note(address, account);
    }

    /// Forgets where objects are, not what they weigh.
    pub(crate) fn forget_addresses(&mut self) {
        self.slots = Slots::default();
    }

    /// Books a new object. Returns whether the ledger has allocated memory.
    pub(crate) fn born(&mut self, counter: i64, object: Object) -> bool {
        self.charge(counter, self.current);
        let current = self.current;
        self.enter(current, object, 1);
        self.slots.note(object.address, current)
    }

    /// Books an object that the collector is about to free.
    pub(crate) fn dies(&mut self, counter: i64, object: Object) {
        let account = self.slots.take(object.address);
        self.charge(counter, account);
        if account != EARLIER {
            self.enter(account, object, -1);
        }
    }

    /// The collector begins to work.
    pub(crate) fn collects(&mut self, counter: i64) {
        self.charge(counter, COLLECTOR);
    }

    /// The collector hands back to the program.
    pub(crate) fn collected(&mut self, counter: i64) {
        self.charge(counter, self.current);
    }

    /// What changed since the last booking was the ledger's.
    pub(crate) fn excuse(&mut self, counter: i64) {
        self.own += counter - self.counter;
        self.counter = counter;
    }

    /// A copy of the accounts, and the bytes of the ledger itself.
    pub(crate) fn balance(&mut self, counter: i64) -> (Vec<Account>, i64) {
        self.pass_time();
        self.charge(counter, self.current);
        (self.accounts.clone(), self.own)
    }

    /// Books what has changed to the payer, and names the next one.
    fn charge(&mut self, counter: i64, next: u32) {
        let bytes = counter - self.counter;
        let payer = self.payer;
        self.account(payer).malloc += bytes;
        self.counter = counter;
        self.payer = next;
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
