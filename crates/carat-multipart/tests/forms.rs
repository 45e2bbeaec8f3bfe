//! Forms in one piece, in two pieces, and in pieces of any size.

use carat_multipart::{Exceeded, FormEvent, FormLimits, Splitter};
use proptest::prelude::*;

const BOUNDARY: &[u8] = b"xyz";
const FIELD: &str = "Content-Disposition: form-data; name=\"a\"";
const FILE: &str = "Content-Disposition: form-data; name=\"a\"; filename=\"b\"";

/// The skeleton of a form, and its files.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Split {
    skeleton: Vec<u8>,
    files: Vec<Vec<u8>>,
    /// The bytes of the current file.
    open: Vec<u8>,
    /// Every byte in order.
    order: Vec<u8>,
}

impl Split {
    fn add(&mut self, event: FormEvent<'_>) {
        match event {
            FormEvent::Keep(bytes) => self.skeleton.extend_from_slice(bytes),
            FormEvent::File(bytes) => self.open.extend_from_slice(bytes),
            FormEvent::FileEnd => self.files.push(std::mem::take(&mut self.open)),
        }
        if let FormEvent::Keep(bytes) | FormEvent::File(bytes) = event {
            assert!(!bytes.is_empty(), "an event without a byte");
            self.order.extend_from_slice(bytes);
        }
    }
}

fn split_with<'a>(
    limits: FormLimits,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Split, Exceeded> {
    let mut splitter = Splitter::new(BOUNDARY, limits);
    let mut split = Split::default();
    for mut piece in pieces {
        while let Some(event) = splitter.next(&mut piece)? {
            split.add(event);
        }
        assert!(piece.is_empty(), "input is left");
    }
    while let Some(event) = splitter.finish() {
        split.add(event);
    }
    assert_eq!(split.open, b"", "a file has no end");
    Ok(split)
}

fn split(body: &[u8]) -> Split {
    split_with(FormLimits::default(), [body]).expect("within the limits")
}

fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, content) in parts {
        body.extend_from_slice(format!("--xyz\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--xyz--\r\n");
    body
}

#[test]
fn files_are_taken_out_and_the_rest_stays() {
    let body = form(&[
        (FIELD, b"1"),
        (FILE, b"two"),
        (FIELD, b"3"),
        (FILE, b"four"),
    ]);
    let split = split(&body);
    assert_eq!(split.files, [&b"two"[..], b"four"]);
    assert_eq!(
        split.skeleton,
        form(&[(FIELD, b"1"), (FILE, b""), (FIELD, b"3"), (FILE, b"")])
    );
}

#[test]
fn an_empty_file_is_a_file() {
    let body = form(&[(FILE, b"")]);
    let split = split(&body);
    assert_eq!((split.files, split.skeleton), (vec![vec![]], body));
}

#[test]
fn a_content_may_contain_almost_a_delimiter() {
    let texts = "--xyz-|a--xyz\r\n|a--xyz--|\r\n--xyz|\r\n--xyz\r|\r\n--xyz-|\r\n--xyzz\r\n|\
        \r\n--xy\r\n--xz|\r\r\n-\r\n\r\n--xyz\r\r|\n--xyz\r\n";
    for content in texts.split('|') {
        // The bytes behind the content show that it has no delimiter.
        let content = format!("{content}!\r\n").into_bytes();
        if content.starts_with(b"--xyz") {
            continue;
        }
        let split = split(&form(&[(FILE, &content), (FIELD, b"x")]));
        assert_eq!(split.files, [content]);
    }
}

#[test]
fn everything_stays_from_the_first_ambiguous_part_on() {
    let doubtful = FILE.replace("filename", "FILENAME");
    let bodies: [(Vec<u8>, usize); 9] = [
        (b"preamble\r\n".to_vec(), 0),
        (b"\r\n--xyz\r\n".to_vec(), 0),
        (b"--xyz\n".to_vec(), 0),
        (b"--xyz--\r\n".to_vec(), 0),
        (form(&[(FILE, b"1"), (&doubtful, b"2")]), 1),
        (form(&[(FILE, b"1"), (FILE, b"--xyz--\r\n")]), 1),
        (form(&[(FILE, b"1"), ("", b"2")]), 1),
        (form(&[(FILE, b"1"), ("\r\nx: y", b"2")]), 1),
        (swap(form(&[(FILE, b"1")]), b"xyz--\r\n", b"xyz--\n\n"), 1),
    ];
    for (mut body, files) in bodies {
        body.extend_from_slice(&form(&[(FILE, b"further")]));
        let split = split(&body);
        assert_eq!(split.files.len(), files, "{}", body.escape_ascii());
        assert_eq!(split.order, body, "{}", body.escape_ascii());
    }
}

fn swap(mut body: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let index = memchr::memmem::find(&body, from).expect("it is there");
    body.splice(index..index + from.len(), to.iter().copied());
    body
}

#[test]
fn a_form_that_breaks_off_has_what_arrived() {
    let body = form(&[(FILE, b"12345")]);
    let head = body.len() - b"12345\r\n--xyz--\r\n".len();
    let breaks_off_after = |content: usize| split(&body[..head + content]);
    assert_eq!(breaks_off_after(0).files, [b""]);
    assert_eq!(breaks_off_after(3).files, [b"123"]);
    assert_eq!(breaks_off_after(8).files, [&b"12345\r\n-"[..]]);
    assert_eq!(breaks_off_after(13).files, [&b"12345\r\n--xyz-"[..]]);
    assert_eq!(breaks_off_after(14).files, [b"12345"]);
    assert!(split(&body[..head - 1]).files.is_empty());
}

#[test]
fn bytes_after_the_form_are_dropped() {
    let mut body = form(&[(FILE, b"1")]);
    let skeleton = split(&body).skeleton;
    body.extend_from_slice(&form(&[(FILE, b"2")]));
    assert_eq!(split(&body).skeleton, skeleton);
    assert_eq!(split(&body).files.len(), 1);
}

#[test]
fn a_form_over_a_limit_is_refused_and_one_at_it_is_not() {
    let body = form(&[(FIELD, b"12345"), (FILE, b"1234567"), (FIELD, b"678")]);
    let header = FILE.len() + b"\r\n\r\n".len();
    let limits = FormLimits {
        parts: 3,
        files: 1,
        part_header: header,
        field_bytes: 8,
    };
    let refused = |limits: FormLimits| split_with(limits, body.chunks(3)).err();
    assert_eq!(refused(limits), None);
    let found = refused(FormLimits { parts: 2, ..limits });
    assert_eq!(found, Some(Exceeded::Parts));
    let found = refused(FormLimits { files: 0, ..limits });
    assert_eq!(found, Some(Exceeded::Files));
    let short = FormLimits {
        part_header: header - 1,
        ..limits
    };
    assert_eq!(refused(short), Some(Exceeded::PartHeader));
    let few = FormLimits {
        field_bytes: 7,
        ..limits
    };
    assert_eq!(refused(few), Some(Exceeded::FieldBytes));
}

#[test]
fn a_header_without_an_end_is_refused_at_the_limit() {
    let limits = FormLimits {
        part_header: 100,
        ..FormLimits::default()
    };
    let body = [b"--xyz\r\n".to_vec(), vec![b'x'; 101]].concat();
    assert!(split_with(limits, [&body[..107]]).is_ok());
    assert_eq!(split_with(limits, [&body[..]]), Err(Exceeded::PartHeader));
}

/// Contents with many bytes of delimiters.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let bit = prop_oneof![
        Just(&b"\r\n"[..]),
        Just(&b"\r"[..]),
        Just(&b"-"[..]),
        Just(&b"--"[..]),
        Just(&b"xy"[..]),
        Just(&b"xyz"[..]),
        Just(&b"\r\n--xyz"[..]),
        Just(&b"\xff\0"[..]),
        Just(&b"some text"[..]),
    ];
    prop::collection::vec(bit, 0..12).prop_map(|bits| bits.concat())
}

proptest! {
    #[test]
    fn contents_without_a_delimiter_come_out_complete(contents in prop::collection::vec(content(), 1..5)) {
        let hides = |content: &[u8]| {
            let framed = [b"\r\n", content, b"\r\n--xyz\r\n"].concat();
            ["\r\n--xyz\r\n", "\r\n--xyz--"]
                .iter()
                .any(|found| memchr::memmem::find(&framed[..framed.len() - 1], found.as_bytes()).is_some())
                || content.starts_with(b"--xyz")
        };
        prop_assume!(!contents.iter().any(|content| hides(content)));
        let parts: Vec<_> = contents.iter().map(|content| (FILE, &content[..])).collect();
        prop_assert_eq!(split(&form(&parts)).files, contents);
    }
}
