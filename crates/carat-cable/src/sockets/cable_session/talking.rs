use std::rc::Rc;

use super::subscription::Subscription;
use super::{CableSession, SESSION_LIMIT};
use crate::protocol::presence;
use crate::{CommandResult, Payload, PresentMember, Reached};

/// What a client is told that asks for what it cannot have.
const ERROR: &str = r#"{"type":"error"}"#;

/// What clients tell each other without the application.
impl CableSession {
    /// The application may have named streams for it, or have ended those that it named before.
    pub(super) fn change_talk(&mut self, at: usize, result: &mut CommandResult) {
        let says = result.whisper.is_some() || result.presence.is_some() || result.join.is_some();
        let subscription = &mut self.subscriptions[at];
        if !says && subscription.extras.is_none() {
            return;
        }
        let streams = subscription.streams.clone();
        let stream_of = |named: Option<&str>, before: Option<&Rc<str>>| {
            let name = named.or(before.map(|before| &**before))?;
            streams.iter().find(|stream| ***stream == *name).cloned()
        };
        let extras = subscription.extras.get_or_insert_default();
        extras.whisper = stream_of(result.whisper.as_deref(), extras.whisper.as_ref());
        let mut presence = stream_of(result.presence.as_deref(), extras.presence.as_ref());
        if presence.is_none() && result.join.is_some() {
            presence = streams.first().cloned();
        }
        let goes_on = presence == extras.presence;
        if !goes_on || result.leave || result.join.is_some() {
            self.leave_presence(at);
        }
        if let Some(extras) = &mut self.subscriptions[at].extras {
            extras.may_join = result.may_join || goes_on && extras.may_join;
            extras.presence = presence;
        }
        if let Some(join) = result.join.take() {
            self.enter(at, &join);
        }
    }

    /// Tells the others of a subscription, if the channel has said that its clients may do so.
    pub(super) fn whisper(&self, identifier: &str, data: &str) -> Option<Reached> {
        let subscription = &self.subscriptions[self.position(identifier)?];
        let stream = subscription.extras.as_ref()?.whisper.as_ref()?;
        let payload = Payload::parse(data.as_bytes())?;
        Some(self.hub.whisper(stream, &payload, self.number))
    }

    /// The client says who it is.
    pub(super) fn join(&mut self, identifier: &str, member: &str) -> Option<String> {
        let at = self.position(identifier)?;
        let extras = self.subscriptions[at].extras.as_ref();
        if !extras.is_some_and(|extras| extras.may_join) {
            self.refuse(at);
        } else if extras.is_some_and(|extras| extras.member.is_none()) {
            self.enter(at, member);
        }
        None
    }

    /// The client is not present any more.
    pub(super) fn leave_as_client(&mut self, identifier: &str) -> Option<String> {
        let at = self.position(identifier)?;
        if self.subscriptions[at].extras.as_ref()?.may_join {
            self.leave_presence(at);
        }
        None
    }

    /// The client asks who is present.
    pub(super) fn list_present(&self, identifier: &str) -> Option<String> {
        let at = self.position(identifier)?;
        let extras = self.subscriptions[at].extras.as_ref();
        let Some(stream) = extras.and_then(|extras| extras.presence.as_ref()) else {
            self.refuse(at);
            return None;
        };
        let list = self.hub.presence.borrow().list(stream);
        self.outbox.send(&presence(identifier, &list));
        None
    }

    fn refuse(&self, at: usize) {
        if self.outbox.is_extended() {
            let identifier = &self.subscriptions[at].identifier;
            self.outbox.send(&presence(identifier, ERROR));
        }
    }

    fn enter(&mut self, at: usize, member: &str) {
        let member = PresentMember::parse(member);
        if member
            .and_then(|member| self.try_enter(at, member))
            .is_none()
        {
            self.refuse(at);
        }
    }

    /// Nobody is present in a server without the extended protocol, whose clients alone can see it.
    fn try_enter(&mut self, at: usize, member: PresentMember) -> Option<()> {
        self.hub.history()?;
        let extras = self.subscriptions[at].extras.as_mut()?;
        let stream = extras.presence.as_ref()?;
        let bytes = member.held_bytes();
        let fits = self.kept + bytes <= SESSION_LIMIT
            && (self.hub.presence.borrow_mut()).join(stream, &member, self.number);
        fits.then(|| {
            self.kept += bytes;
            extras.member = Some(member);
        })
    }

    /// Nobody is present by a subscription any more.
    pub(super) fn leave_presence(&mut self, at: usize) {
        let Some(extras) = self.subscriptions[at].extras.as_mut() else {
            return;
        };
        if let Some((stream, member)) = extras.present() {
            let mut presence = self.hub.presence.borrow_mut();
            presence.leave(stream, &member.id, self.number);
        }
        self.kept -= extras.held_bytes();
        extras.member = None;
    }

    /// The socket has ended: whoever is present by a subscription leaves later.
    pub(super) fn end_presence(&self, subscription: &Subscription) {
        if let Some((stream, member)) = subscription.present() {
            let mut presence = self.hub.presence.borrow_mut();
            presence.end(stream, &member.id, self.number);
        }
    }

    /// The client has come back: whoever was present is so again.
    pub(super) fn restore_presence(&self, subscription: &mut Subscription) {
        if let Some(extras) = &mut subscription.extras {
            let joins = extras.present().is_some_and(|(stream, member)| {
                let mut presence = self.hub.presence.borrow_mut();
                self.hub.history().is_some() && presence.join(stream, member, self.number)
            });
            extras.member = extras.member.take().filter(|_| joins);
        }
    }
}
