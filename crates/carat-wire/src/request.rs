//! A request for the application.

use crate::Malformed;
use crate::codec::form_files::{self, FormFiles};
use crate::codec::{Cursor, Headers, Scheme, push_long, push_short};
use crate::frame::{self, Kind};

/// A request without its headers and its body.
///
/// Every field is as the client sent it, split but not decoded. The header limits of the edge bound the
/// fields with a `u16` length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// Identifies the request on its lane.
    pub id: u32,
    /// The method.
    pub method: &'a [u8],
    /// The path, percent-encoded, beginning with `/`; or `*`.
    pub path: &'a [u8],
    /// The part after the first `?`.
    pub query: &'a [u8],
    /// The scheme by which the client reached the first server.
    pub scheme: Scheme,
    /// Whether a streamed response begins with [`SHORT_STREAM_WINDOW`](crate::stream::SHORT_STREAM_WINDOW).
    pub has_short_window: bool,
    /// Whether the request comes from a part of the edge, on behalf of the client.
    pub is_from_part: bool,
    /// The host of the request, without its port.
    pub server_name: &'a [u8],
    /// The port of the request, or the default of the scheme.
    pub server_port: u16,
    /// The client's address as text.
    pub remote_addr: &'a [u8],
    /// HTTP version: 10, 11, or 20.
    pub version: u8,
}

/// How the body of a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestBody<'a> {
    /// No body.
    None,
    /// The complete body.
    Inline(&'a [u8]),
    /// The body is the first `length` bytes of the file whose descriptor travels with this frame.
    File {
        /// Bytes in the file.
        length: u64,
    },
    /// The body follows in chunks, as the worker grants them: the first window is zero.
    Stream {
        /// Bytes in the body, if the client declared them.
        length: Option<u64>,
    },
}

/// A decoded request.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The request without its headers and its body.
    pub head: RequestHead<'a>,
    /// The headers, each name once: the edge joins repeated ones.
    pub headers: Headers<'a>,
    /// The body.
    pub body: RequestBody<'a>,
    /// The files that were taken out of the body.
    pub files: FormFiles<'a>,
}

const BODY_NONE: u8 = 0;
const BODY_INLINE: u8 = 1;
const BODY_FILE: u8 = 2;
const BODY_STREAM: u8 = 4;
const BODY_OPEN_STREAM: u8 = 5;

/// Appends a request. `files` says for each file of the form whether its descriptor is attached. `headers` appends each
/// header with [`push_header`](crate::push_header) and returns their number.
pub fn encode(
    out: &mut Vec<u8>,
    head: &RequestHead<'_>,
    body: RequestBody<'_>,
    files: impl ExactSizeIterator<Item = bool>,
    headers: impl FnOnce(&mut Vec<u8>) -> u16,
) {
    frame::push(out, Kind::Request, |out| {
        encode_head(out, head);
        let count_at = out.len();
        out.extend_from_slice(&[0; 2]);
        let count = headers(out);
        out[count_at..count_at + 2].copy_from_slice(&count.to_le_bytes());
        encode_body(out, body);
        form_files::push(out, files);
    });
}

/// Appends that the descriptors of request `id` did not all arrive, and that the application did not begin it.
pub fn encode_descriptors_lost(out: &mut Vec<u8>, id: u32) {
    frame::push_number(out, Kind::DescriptorsLost, id);
}

fn encode_head(out: &mut Vec<u8>, head: &RequestHead<'_>) {
    out.extend_from_slice(&head.id.to_le_bytes());
    out.push(head.version);
    out.push(
        u8::from(head.scheme == Scheme::Https)
            | u8::from(head.has_short_window) << 1
            | u8::from(head.is_from_part) << 2,
    );
    out.extend_from_slice(&head.server_port.to_le_bytes());
    push_short(out, head.method);
    push_long(out, head.path);
    push_long(out, head.query);
    push_long(out, head.server_name);
    push_short(out, head.remote_addr);
}

fn encode_body(out: &mut Vec<u8>, body: RequestBody<'_>) {
    match body {
        RequestBody::None => out.push(BODY_NONE),
        RequestBody::Inline(bytes) => {
            out.push(BODY_INLINE);
            push_long(out, bytes);
        }
        RequestBody::File { length } => {
            out.push(BODY_FILE);
            out.extend_from_slice(&length.to_le_bytes());
        }
        RequestBody::Stream {
            length: Some(length),
        } => {
            out.push(BODY_STREAM);
            out.extend_from_slice(&length.to_le_bytes());
        }
        RequestBody::Stream { length: None } => out.push(BODY_OPEN_STREAM),
    }
}

impl<'a> Request<'a> {
    /// Reads the payload.
    pub fn decode(payload: &'a [u8]) -> Result<Request<'a>, Malformed> {
        let mut cursor = Cursor::new(payload);
        let head = decode_head(&mut cursor)?;
        let count = cursor.u16()?;
        let headers = Headers::checked(count, &mut cursor)?;
        let body = match cursor.u8()? {
            BODY_NONE => RequestBody::None,
            BODY_INLINE => RequestBody::Inline(cursor.long()?),
            BODY_FILE => RequestBody::File {
                length: cursor.u64()?,
            },
            BODY_STREAM => RequestBody::Stream {
                length: Some(cursor.u64()?),
            },
            BODY_OPEN_STREAM => RequestBody::Stream { length: None },
            _ => return Err(Malformed::BadValue("request body")),
        };
        let files = FormFiles::decode(&mut cursor)?;
        cursor.end()?;
        Ok(Request {
            head,
            headers,
            body,
            files,
        })
    }
}

fn decode_head<'a>(cursor: &mut Cursor<'a>) -> Result<RequestHead<'a>, Malformed> {
    let id = cursor.u32()?;
    let version = cursor.u8()?;
    let flags = cursor.u8()?;
    if flags > 7 {
        return Err(Malformed::BadValue("scheme"));
    }
    let server_port = cursor.u16()?;
    Ok(RequestHead {
        id,
        version,
        scheme: if flags & 1 == 0 {
            Scheme::Http
        } else {
            Scheme::Https
        },
        has_short_window: flags & 2 != 0,
        is_from_part: flags & 4 != 0,
        server_port,
        method: cursor.short()?,
        path: cursor.long()?,
        query: cursor.long()?,
        server_name: cursor.long()?,
        remote_addr: cursor.short()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;

    const HEAD: RequestHead<'_> = RequestHead {
        id: 3,
        method: b"GET",
        path: b"/a%20b",
        query: b"q=1",
        scheme: Scheme::Https,
        has_short_window: true,
        is_from_part: true,
        server_name: b"example.org",
        server_port: 8080,
        remote_addr: b"127.0.0.1",
        version: 11,
    };

    #[test]
    fn a_request_with_an_unknown_scheme_is_refused() {
        let mut bytes = Vec::new();
        let none = std::iter::empty();
        encode(&mut bytes, &HEAD, RequestBody::None, none, |_| 0);
        let frame = Frame::first(&bytes).expect("well formed");
        let mut payload = frame.expect("complete").payload.to_vec();
        assert_eq!(payload[5], 7, "behind the id and the version");
        payload[5] = 8;
        let found = Request::decode(&payload).map(|request| request.head);
        assert_eq!(found, Err(Malformed::BadValue("scheme")));
    }
}
