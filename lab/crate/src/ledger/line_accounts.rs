//! An account of the ledger for each line of Ruby that allocates.
//!
//! The line is read from Ruby's stack at each allocation: lines that call others, methods without an event for their line,
//! fibers, and other threads get their own. Of what a thread other than the one that traces allocates outside of Ruby's
//! heap, it is the line that made the thread's last object: its stack may not be readable.

use std::collections::HashMap;

use rb_sys::VALUE;

use crate::call_site::{CallSite, CallSites, Running};
use crate::ledger::memory_ledger::{MemoryLedger, ROOT};
use crate::ledger::slots::EARLIER;
use crate::watched_thread;

/// The accounts of lines. What only the server runs belongs to the account of everything else.
pub(crate) struct LineAccounts {
    sites: CallSites,
    accounts: HashMap<CallSite, u32>,
    /// By thread, the account of the last object of those that do not trace.
    last: HashMap<usize, u32>,
}

impl LineAccounts {
    /// Lines below the directory of the server, or of the lab, are not the program's.
    pub(crate) fn new(server: Vec<u8>, lab: Vec<u8>) -> LineAccounts {
        LineAccounts {
            sites: CallSites::outside(server, lab),
            accounts: HashMap::new(),
            last: HashMap::new(),
        }
    }

    /// The account of the line that the present thread runs. Call it where the stack of Ruby can be read.
    pub(crate) fn running(&mut self, ledger: &mut MemoryLedger) -> u32 {
        match self.sites.current() {
            Running::Lab => EARLIER,
            Running::Program(site) if site.line == 0 => ROOT,
            Running::Program(site) => *self
                .accounts
                .entry(site)
                .or_insert_with(|| ledger.add(EARLIER)),
        }
    }

    /// As `running`, in a thread that does not trace.
    pub(crate) fn running_elsewhere(&mut self, ledger: &mut MemoryLedger) -> u32 {
        let account = self.running(ledger);
        self.last.insert(watched_thread::present(), account);
        account
    }

    /// The account of the last object of the present thread, which does not trace.
    pub(crate) fn last(&self) -> u32 {
        let last = self.last.get(&watched_thread::present());
        last.copied().unwrap_or(EARLIER)
    }

    pub(crate) fn rows(&self) -> Vec<(CallSite, u32)> {
        let rows = self.accounts.iter();
        rows.map(|(site, number)| (*site, *number)).collect()
    }

    pub(crate) fn paths(&self) -> Vec<VALUE> {
        self.sites.paths().collect()
    }
}
