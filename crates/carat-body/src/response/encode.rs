use std::rc::Rc;

use bytes::Bytes;
use carat_coding::{Coding, negotiate};
use http::header::{ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, VARY};
use http::{HeaderMap, HeaderValue, Method, Request, Response};

use super::client_body::ClientBody;
use super::compressible::{Compressible, declared_length, lists};
use super::encoded::EncodedBody;
use super::encoders::Encoders;
use super::plain::FullBody;
use carat_exchange::{MemoryAccount, MemoryReservation, Refusal, ReplyBody, StoredBody};

/// Bodies up to this size are encoded before the headers are sent, which then declare the length.
const FULL_LIMIT: u64 = 128 * 1024;

/// The content coding of the response to one request.
pub struct ResponseEncoding {
    coding: Option<Coding>,
    is_head: bool,
    encoders: Rc<Encoders>,
}

impl ResponseEncoding {
    /// Chooses the coding that the client prefers.
    pub fn negotiate<B>(request: &Request<B>, encoders: &Rc<Encoders>) -> ResponseEncoding {
        let lines = request.headers().get_all(ACCEPT_ENCODING);
        ResponseEncoding {
            coding: negotiate(lines.iter().map(HeaderValue::as_bytes)),
            is_head: request.method() == Method::HEAD,
            encoders: Rc::clone(encoders),
        }
    }

    /// Declares in `Vary` that a response depends on Accept-Encoding, if it does. A part declares the same as the
    /// complete response (RFC 9110, section 15.3.7).
    pub fn declare(&self, response: &mut Response<ClientBody>) {
        let min_bytes = self.encoders.min_bytes;
        if Compressible::of(response, self.is_head, min_bytes) != Compressible::No {
            vary(response.headers_mut());
        }
    }

    /// Encodes a response, if that is allowed and the client accepts it.
    pub async fn apply(
        self,
        mut response: Response<ClientBody>,
        memory: &Rc<MemoryAccount>,
    ) -> Result<Response<ClientBody>, Refusal> {
        let min_bytes = self.encoders.min_bytes;
        let compressible = Compressible::of(&response, self.is_head, min_bytes);
        if compressible == Compressible::No {
            return Ok(response);
        }
        vary(response.headers_mut());
        let Some(coding) = self.coding else {
            return Ok(response);
        };
        match compressible {
            Compressible::No | Compressible::Perhaps => Ok(response),
            Compressible::Confirms => {
                weaken(response.headers_mut());
                Ok(response)
            }
            Compressible::Yes if self.is_head => {
                describe(response.headers_mut(), coding);
                Ok(response)
            }
            Compressible::Yes => {
                let memory = MemoryReservation::of(memory);
                self.encode(response, coding, memory).await
            }
        }
    }

    /// The encoded form of a stored body, made for the first client that wants it. Meanwhile others get the plain
    /// body.
    async fn stored_form(
        &self,
        coding: Coding,
        stored: Rc<dyn StoredBody>,
        mut memory: MemoryReservation,
    ) -> Result<Option<Bytes>, Refusal> {
        if let Some(kept) = stored.form(coding) {
            return Ok(Some(kept));
        }
        if !stored.begin_form(coding) {
            return Ok(None);
        }
        let plain = stored.plain().clone();
        memory.grow(plain.len());
        let mut making = FormInMaking(stored, coding, None);
        let made = self.encoders.full(coding, FullBody::Bytes(plain)).await?;
        making.2 = Some(made.clone());
        Ok(Some(made))
    }

    async fn encode(
        &self,
        response: Response<ClientBody>,
        coding: Coding,
        mut memory: MemoryReservation,
    ) -> Result<Response<ClientBody>, Refusal> {
        let (mut head, body) = response.into_parts();
        if let Some(stored) = body.stored() {
            let Some(bytes) = self.stored_form(coding, Rc::clone(stored), memory).await? else {
                return Ok(Response::from_parts(head, body));
            };
            describe(&mut head.headers, coding);
            let length = HeaderValue::from(bytes.len());
            head.headers.insert(CONTENT_LENGTH, length);
            return Ok(Response::from_parts(head, ReplyBody::full(bytes).into()));
        }
        let length = body
            .length()
            .and_then(|length| usize::try_from(length).ok());
        let body = match body.into_full(FULL_LIMIT) {
            Ok(full) => {
                memory.grow(length.unwrap_or(0));
                let bytes = self.encoders.full(coding, full).await?;
                describe(&mut head.headers, coding);
                let length = HeaderValue::from(bytes.len());
                head.headers.insert(CONTENT_LENGTH, length);
                ReplyBody::full(bytes).into()
            }
            Err(body) => match self.encoders.stream(coding, &mut memory) {
                Some(encoder) => {
                    let declared = declared_length(&head.headers);
                    describe(&mut head.headers, coding);
                    body.encoded(EncodedBody::new(encoder, declared, memory))
                }
                None => body,
            },
        };
        Ok(Response::from_parts(head, body))
    }
}

/// Ends the wait for an encoded form, also when its client has left meanwhile.
struct FormInMaking(Rc<dyn StoredBody>, Coding, Option<Bytes>);

impl Drop for FormInMaking {
    fn drop(&mut self) {
        self.0.end_form(self.1, self.2.as_ref());
    }
}

/// Declares the coding, and removes the headers that hold for the plain bytes only.
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
