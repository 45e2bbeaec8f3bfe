use std::cell::RefCell;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::rand::{SecureRandom, SystemRandom};

use crate::{BroadcastHistory, Hub};
use carat_exchange::{ClientMemory, MemoryReservation};
use carat_settings::Settings;

/// The share of `client_memory` that is taken by the kept broadcasts and the sessions of the
/// extended protocol.
#[derive(Debug)]
pub(super) struct CableHistory {
    held: RefCell<MemoryReservation>,
}

impl CableHistory {
    pub(super) fn new(memory: &Rc<ClientMemory>) -> CableHistory {
        CableHistory {
            held: RefCell::new(MemoryReservation::of(&memory.account())),
        }
    }

    /// Forgets the messages that are too old. While memory is short and there is no session of an
    /// absent client to end instead, half of the remaining bytes are forgotten, too. Called once a
    /// tick, with the bytes of the sessions.
    pub(super) fn tick(&self, hub: &Hub, session_bytes: usize, is_anybody_away: bool) {
        let Some(mut history) = hub.history() else {
            return;
        };
        history.expire(unix_seconds());
        let mut held = self.held.borrow_mut();
        if held.account().memory().is_short() && !is_anybody_away {
            let half = history.held_bytes() / 2;
            history.shrink_to(half);
        }
        held.set(history.held_bytes() + session_bytes);
    }
}

/// Tells the history the time before a message is broadcast: clients ask for the messages since a
/// time.
pub(super) fn set_time(hub: &Hub) {
    if let Some(mut history) = hub.history() {
        history.expire(unix_seconds());
    }
}

/// A hub with a history, if the options ask for one.
pub(super) fn hub(settings: &Settings) -> Rc<Hub> {
    let Some(keeps) = settings.parts.cable.history else {
        return Rc::default();
    };
    let keeps = keeps.as_secs().max(1);
    let mut history = BroadcastHistory::new(
        random_name().unwrap_or_default().into(),
        keeps,
        settings.parts.cable.history_bytes,
    );
    history.expire(unix_seconds());
    Rc::new(Hub::with_history(history))
}

/// The Unix time. A clock before 1970 counts as 0: clients know no earlier time.
pub(super) fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// A random name that nobody can guess: 128 bits in hexadecimal digits. `None` when the kernel
/// gives no random bytes.
pub(super) fn random_name() -> Option<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
