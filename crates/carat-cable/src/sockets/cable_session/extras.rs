use std::rc::Rc;

use super::channel_timer::ChannelTimer;
use crate::PresentMember;

/// What few subscriptions have: timers, and what their clients tell each other without the application.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// The stream on which this one may whisper.
    pub(super) whisper: Option<Rc<str>>,
    /// The stream whose subscribers know who is present.
    pub(super) presence: Option<Rc<str>>,
    /// Whether the client itself may say who it is there.
    pub(super) may_join: bool,
    /// Who is present there by this subscription.
    pub(super) member: Option<PresentMember>,
    pub(super) timers: Box<[ChannelTimer]>,
    /// The last command was one of its timers.
    pub(super) has_had_turn: bool,
}

impl Extras {
    /// Who is present by it, and on which stream.
    pub(super) fn present(&self) -> Option<(&Rc<str>, &PresentMember)> {
        self.presence.as_ref().zip(self.member.as_ref())
    }

    /// Bytes that its timers take.
    pub(super) fn timers_bytes(&self) -> usize {
        size_of_val(&*self.timers)
    }

    /// Bytes that are held of who is present.
    pub(super) fn held_bytes(&self) -> usize {
        let member = self.member.as_ref();
        member.map_or(0, PresentMember::held_bytes)
    }
}
