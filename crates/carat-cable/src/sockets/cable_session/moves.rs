use std::rc::Rc;
use std::time::Instant;

use super::{CableSession, ChannelTimer, ENTRY_COST, Subscription, bytes_of};
use crate::sockets::session_record::{MovedSubscription, SessionRecord};
use crate::{ClientOutbox, CommandResult, Hub, SocketNumber};

impl CableSession {
    /// What another edge needs to know, to go on with the client. It is `now`.
    pub fn record(&self, now: Instant) -> SessionRecord {
        let kept = |it: &Subscription| {
            let extras = it.extras.as_deref().cloned().unwrap_or_default();
            MovedSubscription {
                identifier: (&*it.identifier).into(),
                state: it.state.clone(),
                streams: it.streams.iter().map(|stream| (&**stream).into()).collect(),
                is_signed: it.is_signed,
                whisper: extras.whisper.map(|stream| (&*stream).into()),
                presence: extras.presence.map(|stream| (&*stream).into()),
                member: extras.member.map(|member| (&*member.record).into()),
                timers: extras.timers.iter().map(|it| it.moved(now)).collect(),
            }
        };
        SessionRecord {
            connection: self.connection.clone(),
            internal: self.internal.as_ref().map(|internal| (&**internal).into()),
            subscriptions: self.subscriptions.iter().map(kept).collect(),
            waiting: self.waiting.iter().cloned().collect(),
        }
    }

    /// A client that comes from another edge, and that is between two commands. It is `now`.
    pub fn resume(
        hub: &Rc<Hub>,
        (number, outbox): (SocketNumber, &Rc<ClientOutbox>),
        record: SessionRecord,
        now: Instant,
    ) -> CableSession {
        let mut kept = record.connection.len();
        let internal = record.internal.map(|internal| {
            kept += internal.len() + ENTRY_COST;
            hub.listen(&internal, number, outbox)
        });
        let mut moved = record.subscriptions;
        let subscribed = moved.iter_mut().map(|it| {
            let identifier = hub.identifier(&it.identifier);
            let streams = it.streams.iter().map(|stream| {
                kept += stream.len() + ENTRY_COST;
                hub.start(stream, &identifier, (number, outbox))
            });
            let streams = streams.collect();
            kept +=
                identifier.len() + ENTRY_COST + it.state.as_ref().map_or(0, |state| state.len());
            Subscription {
                identifier,
                state: it.state.take(),
                streams,
                is_signed: it.is_signed,
                extras: None,
            }
        });
        let subscriptions = subscribed.collect();
        let mut session = CableSession {
            hub: Rc::clone(hub),
            number,
            outbox: Rc::clone(outbox),
            connection: record.connection,
            internal,
            subscriptions,
            waiting_bytes: record.waiting.iter().map(bytes_of).sum(),
            waiting: record.waiting.into(),
            running: None,
            kept,
            extended: None,
        };
        for (at, subscription) in moved.into_iter().enumerate() {
            session.resume_extras(at, subscription, now);
        }
        session
    }

    fn resume_extras(&mut self, at: usize, moved: MovedSubscription, now: Instant) {
        let timers = moved.timers.iter();
        let timers = timers.map(|timer| ChannelTimer::arrived(timer, now));
        self.set_timers(at, timers.collect());
        let mut talk = CommandResult {
            whisper: moved.whisper,
            presence: moved.presence,
            join: moved.member,
            ..CommandResult::default()
        };
        self.change_talk(at, &mut talk);
    }
}
