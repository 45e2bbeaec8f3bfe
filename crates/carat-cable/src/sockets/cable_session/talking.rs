use super::talk::Talk;
use super::{CableSession, Subscription};
use crate::{CommandResult, Payload, Reached};

impl Subscription {
    /// The application may have named a stream, or have ended the one that it named before.
    pub(super) fn change_talk(&mut self, result: &mut CommandResult) {
        let named = result.whisper.take();
        let before = || self.talk.take().map(|talk| (&*talk.whisper).into());
        let whisper: Option<Box<str>> = named.or_else(before);
        self.talk = whisper.and_then(|whisper| Talk::of(&whisper, &self.streams));
    }
}

impl CableSession {
    /// Tells the others of a subscription, if the channel has said that its clients may do so.
    pub(super) fn whisper(&self, identifier: &str, data: &str) -> Option<Reached> {
        let subscription = &self.subscriptions[self.position(identifier)?];
        let stream = &subscription.talk.as_ref()?.whisper;
        let payload = Payload::parse(data.as_bytes())?;
        Some(self.hub.whisper(stream, &payload, self.number))
    }
}
