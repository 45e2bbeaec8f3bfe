use httparse::{EMPTY_HEADER, Request, Status};

/// The body that a message says it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// This many bytes, possibly none.
    Length(u64),
    /// Chunks.
    Chunked,
}

/// The headers of a message as httparse, hyper's parser, reads them.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// Bytes up to and including the blank line.
    pub length: usize,
    /// What the framing headers say.
    pub body: Body,
    /// Values of Host.
    pub hosts: usize,
}

/// More than any limit of the targets.
const HEADERS: usize = 128;

impl Message {
    /// Reads the headers at the start of `bytes`; `None` when httparse refuses or wants more.
    ///
    /// # Panics
    ///
    /// When the framing headers contradict each other: the guard must refuse such a message.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Message> {
        let mut headers = [EMPTY_HEADER; HEADERS];
        let mut request = Request::new(&mut headers);
        let Ok(Status::Complete(length)) = request.parse(bytes) else {
            return None;
        };
        let lengths = values(&request, "content-length");
        let codings = values(&request, "transfer-encoding");
        let body = match (&lengths[..], &codings[..]) {
            ([], []) => Body::Length(0),
            ([length], []) => Body::Length(number(length)),
            ([], [coding]) if coding.eq_ignore_ascii_case(b"chunked") => Body::Chunked,
            _ => panic!("two framings: {lengths:?} {codings:?}"),
        };
        Some(Message {
            length,
            body,
            hosts: values(&request, "host").len(),
        })
    }
}

fn values<'a>(request: &Request<'_, 'a>, name: &str) -> Vec<&'a [u8]> {
    let headers = request.headers.iter();
    headers
        .filter(|header| header.name.eq_ignore_ascii_case(name))
        .map(|header| header.value.trim_ascii())
        .collect()
}

fn number(digits: &[u8]) -> u64 {
    let text = std::str::from_utf8(digits).expect("ASCII digits");
    assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
    text.parse().expect("a length in range")
}
