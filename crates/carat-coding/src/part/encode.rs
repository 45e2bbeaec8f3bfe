use std::mem::replace;
use std::rc::Rc;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, RANGE, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Response};

use super::compressible::{Compressible, declared_length, lists};
use super::encoded::EncodedBody;
use super::encoders::Encoders;
use crate::{Coding, negotiate};
use carat_body::response::ClientBody;
use carat_exchange::{Call, MemoryAccount, MemoryReservation, Refusal, ReplyBody, StoredBody};
use carat_http::SlowBody;

/// Bodies up to this size are encoded before the headers are sent, which then declare the length.
const FULL_LIMIT: u64 = 128 * 1024;

/// The facts about a request that decide on the content coding of the response.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ResponseEncoding {
    /// The coding that the client prefers.
    coding: Option<Coding>,
    is_head: bool,
    wants_ranges: bool,
}

impl ResponseEncoding {
    /// Reads a request.
    pub(super) fn negotiate(call: &Call) -> ResponseEncoding {
        let fields = &call.parts.headers;
        let lines = fields.get_all(ACCEPT_ENCODING);
        ResponseEncoding {
            coding: negotiate(lines.iter().map(HeaderValue::as_bytes)),
            is_head: call.parts.method == Method::HEAD,
            wants_ranges: fields.contains_key(RANGE),
        }
    }

    /// Declares in `Vary` that a response depends on Accept-Encoding, if it does and the client
    /// asks for a part of it. The partial response must declare the same as the complete one (RFC
    /// 9110, section 15.3.7).
    pub(super) fn declare(self, response: &mut Response<ReplyBody>, encoders: &Encoders) {
        if !self.wants_ranges {
            return;
        }
        let (length, min_bytes) = (response.body().length(), encoders.min_bytes);
        let compressible = Compressible::of(response, length, self.is_head, min_bytes);
        if compressible != Compressible::No {
            vary(response.headers_mut());
        }
    }

    /// Encodes a response, if that is allowed and the client accepts it.
    pub(super) fn apply<'a>(
        self,
        response: &'a mut Response<ClientBody>,
        encoders: &'a Encoders,
        memory: &Rc<MemoryAccount>,
    ) -> Option<SlowBody<'a>> {
        let (length, min_bytes) = (response.body().length(), encoders.min_bytes);
        let compressible = Compressible::of(response, length, self.is_head, min_bytes);
        if compressible == Compressible::No {
            return None;
        }
        vary(response.headers_mut());
        let coding = self.coding?;
        match compressible {
            Compressible::No | Compressible::Perhaps => {}
            Compressible::Confirms => weaken(response.headers_mut()),
            Compressible::Yes if self.is_head => describe(response.headers_mut(), coding),
            Compressible::Yes => {
                let memory = MemoryReservation::of(memory);
                return Some(Box::pin(encoders.encode(response, coding, memory)));
            }
        }
        None
    }
}

impl Encoders {
    /// The encoded form of a stored body, made for the first client that wants it. Meanwhile others get the plain
    /// body.
    async fn stored_form(
        &self,
        coding: Coding,
        stored: Rc<dyn StoredBody>,
        mut memory: MemoryReservation,
    ) -> Result<Option<Bytes>, Refusal> {
        if let Some(kept) = stored.form(coding.name()) {
            return Ok(Some(kept));
        }
        if !stored.begin_form(coding.name()) {
            return Ok(None);
        }
        let plain = stored.plain().clone();
        memory.grow(plain.len());
        let mut making = FormInMaking(stored, coding, None);
        let made = self.full(coding, plain.into()).await?;
        making.2 = Some(made.clone());
        Ok(Some(made))
    }

    async fn encode(
        &self,
        response: &mut Response<ClientBody>,
        coding: Coding,
        mut memory: MemoryReservation,
    ) -> Result<(), Refusal> {
        if let Some(stored) = response.body().stored() {
            let stored = Rc::clone(stored);
            if let Some(bytes) = self.stored_form(coding, stored, memory).await? {
                replace_body(response, coding, bytes);
            }
            return Ok(());
        }
        let body = replace(response.body_mut(), ReplyBody::empty().into());
        let length = body.length().and_then(|it| usize::try_from(it).ok());
        match body.into_full(FULL_LIMIT) {
            Ok(full) => {
                memory.grow(length.unwrap_or(0));
                let bytes = self.full(coding, full).await?;
                replace_body(response, coding, bytes);
            }
            Err(body) => {
                *response.body_mut() = match self.stream(coding, &mut memory) {
                    Some(encoder) => {
                        let declared = declared_length(response.headers());
                        describe(response.headers_mut(), coding);
                        body.transformed(Box::new(EncodedBody::new(encoder, declared, memory)))
                    }
                    None => body,
                };
            }
        }
        Ok(())
    }
}

/// Replaces the body with the encoded bytes, and describes them in the header fields.
fn replace_body(response: &mut Response<ClientBody>, coding: Coding, bytes: Bytes) {
    describe(response.headers_mut(), coding);
    let length = HeaderValue::from(bytes.len());
    response.headers_mut().insert(CONTENT_LENGTH, length);
    *response.body_mut() = ReplyBody::full(bytes).into();
}

/// An encoded form in the making: the stored body, the coding, and the result. When it is dropped,
/// the form is kept; without a result, as when its client has left, another request may make it.
struct FormInMaking(Rc<dyn StoredBody>, Coding, Option<Bytes>);

impl Drop for FormInMaking {
    fn drop(&mut self) {
        self.0.end_form(self.1.name(), self.2.as_ref());
    }
}

/// Declares the coding, and removes the header fields that hold for the plain bytes only.
fn describe(headers: &mut HeaderMap, coding: Coding) {
    let name = HeaderValue::from_static(coding.name());
    headers.insert(CONTENT_ENCODING, name);
    headers.remove(CONTENT_LENGTH);
    headers.remove(ACCEPT_RANGES);
    weaken(headers);
}

/// Declares that the response depends on Accept-Encoding, even in a response that is not encoded: otherwise a cache
/// serves the plain one to everybody (RFC 9110 12.5.5).
fn vary(headers: &mut HeaderMap) {
    if lists(headers, &VARY, b"*") || lists(headers, &VARY, b"accept-encoding") {
        return;
    }
    let others = headers.get(VARY).filter(|others| !others.is_empty());
    let value = match others {
        None => HeaderValue::from_static("Accept-Encoding"),
        Some(others) => {
            let value = [others.as_bytes(), b", Accept-Encoding"].concat();
            HeaderValue::try_from(value).expect("two valid values joined are valid")
        }
    };
    match headers.get_mut(VARY) {
        Some(first) => *first = value,
        None => drop(headers.insert(VARY, value)),
    }
}

/// Weakens the entity tag: the same content in another coding has other bytes (RFC 9110 8.8.1).
fn weaken(headers: &mut HeaderMap) {
    let strong = headers
        .get_mut(ETAG)
        .filter(|tag| tag.as_bytes().starts_with(b"\""));
    if let Some(tag) = strong {
        let weak = [b"W/", tag.as_bytes()].concat();
        *tag = HeaderValue::try_from(weak).expect("two more ASCII letters keep it valid");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let parse = |&(name, value)| {
            (
                http::HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        lines.iter().map(parse).collect()
    }

    fn varied(lines: &[&'static str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(VARY, HeaderValue::from_static(line));
        }
        vary(&mut headers);
        let values = headers.get_all(VARY).iter();
        values
            .map(|value| value.to_str().expect("ASCII").to_owned())
            .collect()
    }

    #[test]
    fn vary_is_added_to_what_is_there() {
        assert_eq!(varied(&[]), ["Accept-Encoding"]);
        assert_eq!(varied(&[""]), ["Accept-Encoding"]);
        assert_eq!(varied(&["Origin"]), ["Origin, Accept-Encoding"]);
        let found = varied(&["Origin", "Cookie"]);
        assert_eq!(found, ["Origin, Accept-Encoding", "Cookie"]);
    }

    #[test]
    fn vary_that_says_it_already_stays() {
        for line in "*|accept-encoding|Origin ,Accept-Encoding|origin, *".split('|') {
            assert_eq!(varied(&[line]), [line]);
        }
        let found = varied(&["Origin", "ACCEPT-ENCODING"]);
        assert_eq!(found, ["Origin", "ACCEPT-ENCODING"]);
    }

    #[test]
    fn a_strong_tag_becomes_weak_and_all_others_stay() {
        for (tag, weak) in [("\"x\"", "W/\"x\""), ("W/\"x\"", "W/\"x\""), ("x", "x")] {
            let mut headers = headers(&[("etag", tag)]);
            weaken(&mut headers);
            assert_eq!(headers[ETAG], weak);
        }
    }

    #[test]
    fn nothing_is_left_that_is_true_of_the_plain_bytes_only() {
        let mut described = headers(&[
            ("content-length", "10"),
            ("accept-ranges", "bytes"),
            ("content-encoding", "identity"),
            ("etag", "\"x\""),
            ("link", "x"),
        ]);
        describe(&mut described, Coding::Zstd);
        let left = headers(&[
            ("content-encoding", "zstd"),
            ("etag", "W/\"x\""),
            ("link", "x"),
        ]);
        assert_eq!(described, left);
    }
}
