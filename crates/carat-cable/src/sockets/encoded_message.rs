use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::BroadcastHistory;
use crate::protocol::message_start;
use crate::{DEFLATE_LIMIT, DeflateWindow, MessageCoder, Payload, text_frame};

/// A broadcast as its subscribers get it: encoded once for each identifier and protocol, and
/// compressed once.
#[derive(Debug)]
pub(super) struct EncodedMessage<'a> {
    payload: &'a Payload,
    coder: &'a RefCell<MessageCoder>,
    /// The text behind the payload in the extended protocol; `None` without a history.
    end: Option<String>,
    plain: Option<EncodedFrame>,
    extended: Option<EncodedFrame>,
    /// The bytes that may still be compressed; see [`DEFLATE_LIMIT`].
    budget: usize,
}

#[derive(Debug)]
struct EncodedFrame {
    identifier: Rc<str>,
    frame: Rc<[u8]>,
    /// Bytes of the text at the end of `frame`.
    text: usize,
    /// The compressed frame, made when a client first needs it. The inner value is `None` if
    /// compression is of no use.
    deflated: OnceCell<Option<Rc<[u8]>>>,
}

impl<'a> EncodedMessage<'a> {
    /// `end` is the text behind the payload in the extended protocol.
    pub(super) fn new(
        payload: &'a Payload,
        end: Option<String>,
        coder: &'a RefCell<MessageCoder>,
    ) -> EncodedMessage<'a> {
        EncodedMessage {
            payload,
            coder,
            end,
            plain: None,
            extended: None,
            budget: DEFLATE_LIMIT,
        }
    }

    /// The frame for a subscription. Subscriptions with the same identifier must ask one after the
    /// other: only the last identifier's frame is held.
    pub(super) fn frame(
        &mut self,
        identifier: &Rc<str>,
        is_extended: bool,
        deflate: Option<DeflateWindow>,
    ) -> &Rc<[u8]> {
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
            let (start, end) = (message_start(identifier), end.unwrap_or("}"));
            let text = [&start, self.payload.as_str(), end].concat();
            EncodedFrame {
                identifier: Rc::clone(identifier),
                frame: text_frame(&text).into(),
                text: text.len(),
                deflated: OnceCell::new(),
            }
        };
        let encoded = encoded.get_or_insert_with(encode);
        let text = &encoded.frame[encoded.frame.len() - encoded.text..];
        let window = deflate.filter(|window| window.holds(text.len()));
        let deflate = || self.coder.borrow_mut().frame(text, &mut self.budget);
        let deflated = window.and_then(|_| encoded.deflated.get_or_init(deflate).as_ref());
        deflated.unwrap_or(&encoded.frame)
    }

    /// Keeps the message in the history: as a frame that was sent, if there is one.
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

#[cfg(test)]
mod tests {
    use super::*;

    const OFFER: &str = "permessage-deflate; server_max_window_bits=";

    fn window(bits: u8) -> Option<DeflateWindow> {
        let offer = format!("{OFFER}{bits}");
        DeflateWindow::negotiate([&*offer]).map(|(window, _)| window)
    }

    #[test]
    fn clients_share_the_compressed_frame_unless_their_window_is_too_small() {
        let coder = RefCell::default();
        let json = format!("\"{}\"", "<p>line</p>".repeat(100));
        let payload = Payload::parse(json.as_bytes()).expect("JSON");
        let mut encoded = EncodedMessage::new(&payload, None, &coder);
        let mut frame = |identifier: &str, bits: Option<u8>| {
            let deflate = bits.and_then(window);
            Rc::clone(encoded.frame(&identifier.into(), false, deflate))
        };
        let (plain, deflated) = (frame("a", None), frame("a", Some(15)));
        assert!(deflated.len() < 100 && plain.len() > 1000);
        assert!(Rc::ptr_eq(&deflated, &frame("a", Some(11))));
        assert!(Rc::ptr_eq(&plain, &frame("a", Some(10))));
        let text = coder
            .borrow_mut()
            .inflate(deflated[2..].to_vec(), plain.len());
        assert_eq!(text.expect("a text").as_bytes(), &plain[4..]);
        assert!(!Rc::ptr_eq(&deflated, &frame("b", Some(15))));
    }

    #[test]
    fn clients_with_many_identifiers_get_the_rest_of_a_broadcast_as_it_is() {
        let coder = RefCell::default();
        let json = format!("\"{}\"", "x".repeat(4000));
        let payload = Payload::parse(json.as_bytes()).expect("JSON");
        let mut encoded = EncodedMessage::new(&payload, None, &coder);
        let mut bytes = |number: u32| {
            let identifier = number.to_string().into();
            encoded.frame(&identifier, false, window(15)).len()
        };
        let deflated = (0..1000).take_while(|number| bytes(*number) < 1000).count();
        assert!((20..40).contains(&deflated), "{deflated}");
        assert!((0..1000).all(|number| bytes(number) > 4000));
    }
}
