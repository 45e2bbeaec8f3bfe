//! The plan of a run: the decisions of its seed, the rules that have to hold, and a record of what has happened.

mod cable_command;
mod cable_ledger;
mod console_ledger;
mod ledger;
mod random;
mod scenario;
mod schedule;
mod script;
mod trace;

pub(crate) use cable_command::CableCommand;
pub(crate) use cable_ledger::{CableLedger, CableMessage};
pub(crate) use console_ledger::ConsoleLedger;
pub(crate) use ledger::{Answer, Ledger, LedgerTimeouts};
pub(crate) use random::SeededRandom;
pub(crate) use scenario::{Scenario, WORKER_BYTES};
pub(crate) use schedule::{Moment, Schedule};
pub(crate) use script::{CrashPoint, RequestScript, ScriptedBody, ScriptedResponse};
pub(crate) use trace::Trace;
