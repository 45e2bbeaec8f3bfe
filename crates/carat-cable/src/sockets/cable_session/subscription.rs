use std::rc::Rc;
use std::time::Instant;

use super::channel_timer::{ChannelTimer, TIMERS_LIMIT};
use super::extras::Extras;
use crate::sockets::session_record::MovedSubscription;
use crate::{PresentMember, SubscriptionRecord};

/// What a subscription, a stream of one, or a command takes beside its texts.
pub(super) const ENTRY_COST: usize = 128;

/// What a client has subscribed to.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) identifier: Rc<str>,
    pub(super) state: Option<Box<str>>,
    pub(super) streams: Box<[Rc<str>]>,
    /// The application does not know of it: it has signed the name of the stream.
    pub(super) is_signed: bool,
    /// `None` for most.
    pub(super) extras: Option<Box<Extras>>,
}

impl Subscription {
    /// Bytes that it takes.
    pub(super) fn cost(&self) -> usize {
        let streams: usize = self.streams.iter().map(|it| it.len() + ENTRY_COST).sum();
        let state = self.state.as_ref().map_or(0, |state| state.len());
        let member = self.extras.as_ref().map_or(0, |extras| extras.held_bytes());
        self.identifier.len() + ENTRY_COST + state + streams + member + self.timers_bytes()
    }

    pub(super) fn timers_bytes(&self) -> usize {
        let extras = self.extras.as_ref();
        extras.map_or(0, |extras| extras.timers_bytes())
    }

    /// Who is present by it, and on which stream.
    pub(super) fn present(&self) -> Option<(&Rc<str>, &PresentMember)> {
        self.extras.as_ref()?.present()
    }

    pub(super) fn record(&self) -> SubscriptionRecord<'_> {
        SubscriptionRecord {
            identifier: &self.identifier,
            state: self.state.as_deref(),
        }
    }

    /// What another edge needs to know of it. It is `now`.
    pub(super) fn moved(&self, now: Instant) -> MovedSubscription {
        let extras = self.extras.as_deref().cloned().unwrap_or_default();
        MovedSubscription {
            identifier: (&*self.identifier).into(),
            state: self.state.clone(),
            streams: self.streams.iter().map(|it| (&**it).into()).collect(),
            is_signed: self.is_signed,
            whisper: extras.whisper.map(|stream| (&*stream).into()),
            presence: extras.presence.map(|stream| (&*stream).into()),
            may_join: extras.may_join,
            member: extras.member.map(|member| (&*member.record).into()),
            timers: extras.timers.iter().map(|it| it.moved(now)).collect(),
        }
    }

    /// One that has not begun here.
    pub(super) fn arrived(moved: MovedSubscription, now: Instant) -> Subscription {
        let timers = moved.timers.iter().take(TIMERS_LIMIT);
        let member = moved.member.as_deref();
        let extras = Extras {
            whisper: moved.whisper.map(Rc::from),
            presence: moved.presence.map(Rc::from),
            may_join: moved.may_join,
            member: member.and_then(PresentMember::parse),
            timers: timers.map(|it| ChannelTimer::arrived(it, now)).collect(),
            has_had_turn: false,
        };
        let says = extras.whisper.is_some() || extras.presence.is_some();
        let has_extras = says || !extras.timers.is_empty();
        Subscription {
            identifier: moved.identifier.into(),
            state: moved.state,
            streams: moved.streams.into_iter().map(Rc::from).collect(),
            is_signed: moved.is_signed,
            extras: has_extras.then(|| Box::new(extras)),
        }
    }
}
