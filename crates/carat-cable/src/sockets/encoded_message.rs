use std::rc::Rc;

use super::BroadcastHistory;
use crate::protocol::{message_start, presence_start};
use crate::{Payload, text_frame};

/// A broadcast as its subscribers get it: encoded once for each identifier and protocol.
#[derive(Debug)]
pub(super) struct EncodedMessage<'a> {
    payload: &'a Payload,
    /// What follows the payload in the extended protocol.
    end: Option<String>,
    /// What precedes it, for an identifier.
    start: fn(&str) -> String,
    plain: Option<EncodedFrame>,
    extended: Option<EncodedFrame>,
}

#[derive(Debug)]
struct EncodedFrame {
    identifier: Rc<str>,
    frame: Rc<[u8]>,
}

impl<'a> EncodedMessage<'a> {
    /// `end` is that of the extended protocol.
    pub(super) fn new(payload: &'a Payload, end: Option<String>) -> EncodedMessage<'a> {
        EncodedMessage {
            payload,
            end,
            start: message_start,
            plain: None,
            extended: None,
        }
    }

    /// One of who is present.
    pub(super) fn presence(payload: &'a Payload) -> EncodedMessage<'a> {
        EncodedMessage {
            start: presence_start,
            ..EncodedMessage::new(payload, None)
        }
    }

    /// The frame for a subscription. Those of one identifier ask one after the other.
    pub(super) fn frame(&mut self, identifier: &Rc<str>, is_extended: bool) -> &Rc<[u8]> {
        let end = self.end.as_deref().filter(|_| is_extended);
        let encoded = match end {
            Some(_) => &mut self.extended,
            None => &mut self.plain,
        };
        if encoded
            .as_ref()
            .is_some_and(|it| it.identifier != *identifier)
        {
            *encoded = None;
        }
        let encode = || {
            let (start, end) = ((self.start)(identifier), end.unwrap_or("}"));
            let text = [&start, self.payload.as_str(), end].concat();
            EncodedFrame {
                identifier: Rc::clone(identifier),
                frame: text_frame(&text).into(),
            }
        };
        &encoded.get_or_insert_with(encode).frame
    }

    /// Keeps it.
    pub(super) fn keep(self, stream: &str, history: &mut BroadcastHistory) {
        let payload = self.payload.as_str();
        let is_extended = self.extended.is_some();
        let end = self.end.filter(|_| is_extended);
        let Some(encoded) = self.extended.or(self.plain) else {
            return history.keep_payload(stream, payload.as_bytes());
        };
        let behind = encoded.frame.len() - end.map_or(1, |end| end.len());
        let place = behind - payload.len()..behind;
        history.keep(stream, encoded.frame, place, is_extended);
    }
}
