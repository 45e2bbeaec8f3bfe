use std::rc::Rc;

use super::{CableSession, ENTRY_COST, Subscription, bytes_of};
use crate::sockets::session_record::{MovedSubscription, SessionRecord};
use crate::{ClientOutbox, CommandResult, Hub, SocketNumber};

impl CableSession {
    /// What another edge needs to know, to go on with the client.
    pub fn record(&self) -> SessionRecord {
        let kept = |it: &Subscription| {
            let talk = it.talk.as_deref().cloned().unwrap_or_default();
            MovedSubscription {
                identifier: (&*it.identifier).into(),
                state: it.state.clone(),
                streams: it.streams.iter().map(|stream| (&**stream).into()).collect(),
                is_signed: it.is_signed,
                whisper: talk.whisper.map(|stream| (&*stream).into()),
                presence: talk.presence.map(|stream| (&*stream).into()),
                member: talk.member.map(|member| (&*member.record).into()),
            }
        };
        SessionRecord {
            connection: self.connection.clone(),
            internal: self.internal.as_ref().map(|internal| (&**internal).into()),
            subscriptions: self.subscriptions.iter().map(kept).collect(),
            waiting: self.waiting.iter().cloned().collect(),
        }
    }

    /// A client that comes from another edge, and that is between two commands.
    pub fn resume(
        hub: &Rc<Hub>,
        (number, outbox): (SocketNumber, &Rc<ClientOutbox>),
        record: SessionRecord,
    ) -> CableSession {
        let mut kept = record.connection.len();
        let internal = record.internal.map(|internal| {
            kept += internal.len() + ENTRY_COST;
            hub.listen(&internal, number, outbox)
        });
        let mut talks = Vec::new();
        let subscribed = record.subscriptions.into_iter().map(|it| {
            let identifier = hub.identifier(&it.identifier);
            let streams = it.streams.iter().map(|stream| {
                kept += stream.len() + ENTRY_COST;
                hub.start(stream, &identifier, (number, outbox))
            });
            let streams = streams.collect();
            talks.push((it.whisper, it.presence, it.member));
            kept +=
                identifier.len() + ENTRY_COST + it.state.as_ref().map_or(0, |state| state.len());
            Subscription {
                identifier,
                state: it.state,
                streams,
                is_signed: it.is_signed,
                talk: None,
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
        for (at, (whisper, presence, join)) in talks.into_iter().enumerate() {
            let mut talk = CommandResult::default();
            (talk.whisper, talk.presence, talk.join) = (whisper, presence, join);
            session.change_talk(at, &mut talk);
        }
        session
    }
}
