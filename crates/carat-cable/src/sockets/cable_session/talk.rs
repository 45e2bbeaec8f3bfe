use std::rc::Rc;

use crate::PresentMember;

/// What the clients of a subscription tell each other without the application.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    /// The stream on which this one may whisper.
    pub(super) whisper: Option<Rc<str>>,
    /// The stream whose subscribers know who is present.
    pub(super) presence: Option<Rc<str>>,
    /// Whether the client itself may say who it is there.
    pub(super) may_join: bool,
    /// Who is present there by this subscription.
    pub(super) member: Option<PresentMember>,
}

impl Talk {
    /// Who is present by it, and on which stream.
    pub(super) fn present(&self) -> Option<(&Rc<str>, &PresentMember)> {
        self.presence.as_ref().zip(self.member.as_ref())
    }

    /// Bytes that are held.
    pub(super) fn held_bytes(&self) -> usize {
        let member = self.member.as_ref();
        member.map_or(0, PresentMember::held_bytes)
    }
}
