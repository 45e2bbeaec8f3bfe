use memchr::memmem;

use crate::delimiter::Delimiter;
use crate::limits::{Exceeded, Limits};
use crate::part::Part;

/// So many bytes are searched for the end of a header at once: most are shorter, and what is behind the
/// end is copied in vain.
const HEADER_STEP: usize = 256;

/// A piece of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Bytes of the skeleton.
    Keep(&'a [u8]),
    /// Bytes of the file that has been taken out last, or of the next one.
    File(&'a [u8]),
    /// The file is complete; one without a byte has only this.
    FileEnd,
}

/// Takes the files out of one form.
#[derive(Debug)]
pub struct Splitter {
    delimiter: Delimiter,
    limits: Limits,
    state: State,
    /// What cannot be told yet: at most a part's header, or a delimiter and what shows that it is one.
    held: Vec<u8>,
    /// Whether the last event has handed out what is held.
    is_handed_out: bool,
    parts: usize,
    files: usize,
    field_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Before the first delimiter.
    Start,
    /// In the header of a part.
    Header,
    /// At the first byte of a content.
    Opening(Part),
    /// In a content.
    Content(Part),
    /// A file has ended; its delimiter is held.
    Between,
    /// Behind the two hyphens of the last delimiter, which is held.
    Closing,
    /// What follows is not understood.
    Verbatim,
    /// Behind the form.
    Over,
}

/// What a step has come to. Only bytes of the input are borrowed.
enum Step<'a> {
    Again,
    NeedsInput,
    Content(Part, &'a [u8]),
    HeldContent(Part),
    Keep(&'a [u8]),
    KeepHeld,
    FileEnd,
}

impl Splitter {
    /// For a form with this boundary, as [`boundary_of`](crate::boundary_of) returns it.
    #[must_use]
    pub fn new(boundary: &[u8], limits: Limits) -> Splitter {
        Splitter {
            delimiter: Delimiter::new(boundary),
            limits,
            state: State::Start,
            held: Vec::new(),
            is_handed_out: false,
            parts: 0,
            files: 0,
            field_bytes: 0,
        }
    }

    /// The next event in `input`, which is moved on to what follows; `None` when more is needed.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'a>>, Exceeded> {
        self.forget_handed_out();
        loop {
            match self.step(input)? {
                Step::Again => {}
                Step::NeedsInput => return Ok(None),
                Step::Content(part, bytes) => {
                    self.count(part, bytes.len())?;
                    return Ok(Some(content(part, bytes)));
                }
                Step::HeldContent(part) => {
                    self.count(part, self.held.len())?;
                    return Ok(Some(content(part, self.hand_out())));
                }
                Step::Keep(bytes) => return Ok(Some(Event::Keep(bytes))),
                Step::KeepHeld => return Ok(Some(Event::Keep(self.hand_out()))),
                Step::FileEnd => return Ok(Some(Event::FileEnd)),
            }
        }
    }

    /// No input follows: what is left, one event a call, until `None`.
    pub fn finish(&mut self) -> Option<Event<'_>> {
        self.forget_handed_out();
        match self.state {
            State::Opening(Part::File) | State::Content(Part::File) if self.held.is_empty() => {
                self.state = State::Over;
                Some(Event::FileEnd)
            }
            _ if self.held.is_empty() => None,
            State::Opening(part) | State::Content(part) => Some(content(part, self.hand_out())),
            _ => Some(Event::Keep(self.hand_out())),
        }
    }

    fn step<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, Exceeded> {
        Ok(match self.state {
            State::Start => self.start(input),
            State::Header => self.header(input)?,
            State::Opening(part) => self.opening(part, input),
            State::Content(part) => self.content(part, input),
            State::Between => self.keep_held_and(State::Header),
            State::Closing => self.closing(input),
            State::Verbatim if input.is_empty() => Step::NeedsInput,
            State::Verbatim => Step::Keep(std::mem::take(input)),
            State::Over => {
                *input = &[];
                Step::NeedsInput
            }
        })
    }

    /// The form begins with a delimiter line, without the CRLF in front.
    fn start<'a>(&mut self, input: &mut &'a [u8]) -> Step<'a> {
        let line = [self.delimiter.bare(), b"\r\n"].concat();
        hold_while_equal(&mut self.held, &line, input);
        if self.held.len() == line.len() {
            self.keep_held_and(State::Header)
        } else if input.is_empty() {
            Step::NeedsInput
        } else {
            self.keep_held_and(State::Verbatim)
        }
    }

    /// Up to the first empty line. A header that begins with it is none: some parsers look for the next.
    fn header<'a>(&mut self, input: &mut &'a [u8]) -> Result<Step<'a>, Exceeded> {
        let (before, limit) = (self.held.len(), self.limits.part_header);
        let wanted = input.len().min(HEADER_STEP).min(limit + 1 - before);
        self.held.extend_from_slice(&input[..wanted]);
        let from = before.saturating_sub(3);
        let end = memmem::find(&self.held[from..], b"\r\n\r\n").map(|place| from + place + 4);
        self.held.truncate(end.unwrap_or(self.held.len()));
        *input = &input[self.held.len() - before..];
        if self.held.starts_with(b"\r\n") {
            Ok(self.keep_held_and(State::Verbatim))
        } else if self.held.len() > limit {
            Err(Exceeded::PartHeader)
        } else if end.is_some() {
            self.begin_part()
        } else if input.is_empty() {
            Ok(Step::NeedsInput)
        } else {
            Ok(Step::Again)
        }
    }

    /// The header is held.
    fn begin_part<'a>(&mut self) -> Result<Step<'a>, Exceeded> {
        self.parts += 1;
        if self.parts > self.limits.parts {
            return Err(Exceeded::Parts);
        }
        let part = Part::of(&self.held[..self.held.len() - 2]);
        if part == Part::Doubtful {
            return Ok(self.keep_held_and(State::Verbatim));
        }
        self.files += usize::from(part == Part::File);
        if self.files > self.limits.files {
            return Err(Exceeded::Files);
        }
        Ok(self.keep_held_and(State::Opening(part)))
    }

    /// A content that begins with a delimiter without its CRLF has ended, for some parsers.
    fn opening<'a>(&mut self, part: Part, input: &mut &'a [u8]) -> Step<'a> {
        let delimiter = self.delimiter.bare();
        hold_while_equal(&mut self.held, delimiter, input);
        if self.held.len() == delimiter.len() {
            return self.keep_held_and(State::Verbatim);
        }
        if input.is_empty() {
            return Step::NeedsInput;
        }
        self.state = State::Content(part);
        if self.held.is_empty() {
            Step::Again
        } else {
            Step::HeldContent(part)
        }
    }

    /// Up to the next delimiter. Where one may have begun, it is held until that is certain.
    fn content<'a>(&mut self, part: Part, input: &mut &'a [u8]) -> Step<'a> {
        if self.held.is_empty() {
            let (content, rest) = input.split_at(self.delimiter.candidate(input));
            *input = rest;
            if !content.is_empty() {
                return Step::Content(part, content);
            }
        }
        for tail in [&b"\r\n"[..], b"--"] {
            let whole = self.delimiter.with(tail);
            hold_while_equal(&mut self.held, &whole, input);
            if self.held.len() == whole.len() {
                return self.delimited(part, tail == b"--");
            }
        }
        if input.is_empty() {
            Step::NeedsInput
        } else {
            Step::HeldContent(part)
        }
    }

    /// The delimiter is held.
    fn delimited<'a>(&mut self, part: Part, is_last: bool) -> Step<'a> {
        self.state = if is_last {
            State::Closing
        } else {
            State::Between
        };
        if part == Part::File {
            Step::FileEnd
        } else {
            Step::Again
        }
    }

    /// Behind a last delimiter there is nothing or a CRLF, and then what nobody reads.
    fn closing<'a>(&mut self, input: &mut &'a [u8]) -> Step<'a> {
        let whole = self.delimiter.with(b"--\r\n");
        hold_while_equal(&mut self.held, &whole, input);
        if self.held.len() == whole.len() {
            self.keep_held_and(State::Over)
        } else if input.is_empty() {
            Step::NeedsInput
        } else {
            self.keep_held_and(State::Verbatim)
        }
    }

    fn keep_held_and<'a>(&mut self, next: State) -> Step<'a> {
        self.state = next;
        if self.held.is_empty() {
            Step::Again
        } else {
            Step::KeepHeld
        }
    }

    fn count(&mut self, part: Part, bytes: usize) -> Result<(), Exceeded> {
        if part != Part::File {
            self.field_bytes += bytes;
        }
        if self.field_bytes > self.limits.field_bytes {
            return Err(Exceeded::FieldBytes);
        }
        Ok(())
    }

    fn hand_out(&mut self) -> &[u8] {
        self.is_handed_out = true;
        &self.held
    }

    fn forget_handed_out(&mut self) {
        if std::mem::take(&mut self.is_handed_out) {
            self.held.clear();
        }
    }
}

fn content(part: Part, bytes: &[u8]) -> Event<'_> {
    if part == Part::File {
        Event::File(bytes)
    } else {
        Event::Keep(bytes)
    }
}

/// Moves bytes from `input` to `held` as long as that is a beginning of `wanted`.
fn hold_while_equal(held: &mut Vec<u8>, wanted: &[u8], input: &mut &[u8]) {
    let Some(missing) = wanted.strip_prefix(&held[..]) else {
        return;
    };
    let pairs = missing.iter().zip(*input);
    let count = pairs.take_while(|(wanted, byte)| wanted == byte).count();
    held.extend_from_slice(&input[..count]);
    *input = &input[count..];
}
