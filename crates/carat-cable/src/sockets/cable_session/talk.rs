use std::rc::Rc;

use super::{CableSession, Subscription};
use crate::{CommandResult, Payload, Reached};

/// What the clients of a subscription tell each other without the application.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    /// The stream on which this one may whisper.
    pub(super) whisper: Rc<str>,
}

impl Talk {
    pub(super) fn of(whisper: &str, streams: &[Rc<str>]) -> Option<Box<Talk>> {
        let whisper = streams.iter().find(|stream| ***stream == *whisper)?;
        let whisper = Rc::clone(whisper);
        Some(Box::new(Talk { whisper }))
    }
}

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
