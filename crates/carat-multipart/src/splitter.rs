use memchr::memmem;

use crate::delimiter::Delimiter;
use crate::form_part::FormPart;
use crate::limits::{Exceeded, FormLimits};

/// Bytes that are searched at once for the end of the headers of a part. Most headers are shorter,
/// and bytes after their end are copied in vain.
const HEADER_STEP: usize = 256;

/// A piece of the form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FormEvent<'a> {
    /// Bytes of the skeleton.
    Keep(&'a [u8]),
    /// Bytes of the current file.
    File(&'a [u8]),
    /// The file is complete. An empty file has only this event.
    FileEnd,
}

/// Takes the files out of one form.
pub struct Splitter {
    delimiter: Delimiter,
    limits: FormLimits,
    state: SplitterState,
    /// Undecided bytes: at most the headers of a part, or a delimiter and the bytes that confirm it.
    held: Vec<u8>,
    /// Whether the last event returned the held bytes.
    is_handed_out: bool,
    parts: usize,
    files: usize,
    field_bytes: usize,
}

#[derive(Clone, Copy)]
enum SplitterState {
    /// Before the first delimiter.
    Start,
    /// In the headers of a part.
    Header,
    /// At the first byte of a part's content.
    Opening(FormPart),
    /// In a part's content.
    Content(FormPart),
    /// After a part's content; the delimiter is held.
    Between,
    /// After the two hyphens of the last delimiter, which is held.
    Closing,
    /// The rest is ambiguous and stays in the skeleton.
    Verbatim,
    /// After the form.
    Over,
}

/// The result of a step. It borrows only from the input.
enum SplitterStep<'a> {
    Again,
    NeedsInput,
    Content(FormPart, &'a [u8]),
    HeldContent(FormPart),
    Keep(&'a [u8]),
    KeepHeld,
    FileEnd,
}

impl Splitter {
    /// Splits a form with this boundary, as [`boundary_of`](crate::boundary_of) returns it.
    pub fn new(boundary: &[u8], limits: FormLimits) -> Splitter {
        Splitter {
            delimiter: Delimiter::new(boundary),
            limits,
            state: SplitterState::Start,
            held: Vec::new(),
            is_handed_out: false,
            parts: 0,
            files: 0,
            field_bytes: 0,
        }
    }

    /// The next event in `input`, which is advanced past it; `None` when more input is needed.
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<FormEvent<'a>>, Exceeded> {
        self.forget_handed_out();
        loop {
            match self.step(input)? {
                SplitterStep::Again => {}
                SplitterStep::NeedsInput => return Ok(None),
                SplitterStep::Content(part, bytes) => {
                    self.count(part, bytes.len())?;
                    return Ok(Some(content(part, bytes)));
                }
                SplitterStep::HeldContent(part) => {
                    self.count(part, self.held.len())?;
                    return Ok(Some(content(part, self.hand_out())));
                }
                SplitterStep::Keep(bytes) => return Ok(Some(FormEvent::Keep(bytes))),
                SplitterStep::KeepHeld => return Ok(Some(FormEvent::Keep(self.hand_out()))),
                SplitterStep::FileEnd => return Ok(Some(FormEvent::FileEnd)),
            }
        }
    }

    /// The events that remain after the last input, one for each call, until `None`.
    pub fn finish(&mut self) -> Option<FormEvent<'_>> {
        self.forget_handed_out();
        match self.state {
            SplitterState::Opening(FormPart::File) | SplitterState::Content(FormPart::File)
                if self.held.is_empty() =>
            {
                self.state = SplitterState::Over;
                Some(FormEvent::FileEnd)
            }
            _ if self.held.is_empty() => None,
            SplitterState::Opening(part) | SplitterState::Content(part) => {
                Some(content(part, self.hand_out()))
            }
            _ => Some(FormEvent::Keep(self.hand_out())),
        }
    }

    fn step<'a>(&mut self, input: &mut &'a [u8]) -> Result<SplitterStep<'a>, Exceeded> {
        Ok(match self.state {
            SplitterState::Start => self.start(input),
            SplitterState::Header => self.header(input)?,
            SplitterState::Opening(part) => self.opening(part, input),
            SplitterState::Content(part) => self.content(part, input),
            SplitterState::Between => self.keep_held_and(SplitterState::Header),
            SplitterState::Closing => self.closing(input),
            SplitterState::Verbatim if input.is_empty() => SplitterStep::NeedsInput,
            SplitterState::Verbatim => SplitterStep::Keep(std::mem::take(input)),
            SplitterState::Over => {
                *input = &[];
                SplitterStep::NeedsInput
            }
        })
    }

    /// Reads the first line: a form begins with a delimiter without the leading CRLF.
    fn start<'a>(&mut self, input: &mut &'a [u8]) -> SplitterStep<'a> {
        let line = [self.delimiter.bare(), b"\r\n"].concat();
        hold_while_equal(&mut self.held, &line, input);
        if self.held.len() == line.len() {
            self.keep_held_and(SplitterState::Header)
        } else if input.is_empty() {
            SplitterStep::NeedsInput
        } else {
            self.keep_held_and(SplitterState::Verbatim)
        }
    }

    /// Reads up to the first empty line. A part that begins with one is ambiguous: some parsers look for
    /// the next empty line.
    fn header<'a>(&mut self, input: &mut &'a [u8]) -> Result<SplitterStep<'a>, Exceeded> {
        let (before, limit) = (self.held.len(), self.limits.part_header);
        let wanted = input.len().min(HEADER_STEP).min(limit + 1 - before);
        self.held.extend_from_slice(&input[..wanted]);
        let from = before.saturating_sub(3);
        let end = memmem::find(&self.held[from..], b"\r\n\r\n").map(|index| from + index + 4);
        self.held.truncate(end.unwrap_or(self.held.len()));
        *input = &input[self.held.len() - before..];
        if self.held.starts_with(b"\r\n") {
            Ok(self.keep_held_and(SplitterState::Verbatim))
        } else if self.held.len() > limit {
            Err(Exceeded::PartHeader)
        } else if end.is_some() {
            self.begin_part()
        } else if input.is_empty() {
            Ok(SplitterStep::NeedsInput)
        } else {
            Ok(SplitterStep::Again)
        }
    }

    /// Begins a part. Its headers are held.
    fn begin_part<'a>(&mut self) -> Result<SplitterStep<'a>, Exceeded> {
        self.parts += 1;
        if self.parts > self.limits.parts {
            return Err(Exceeded::Parts);
        }
        let part = FormPart::of(&self.held[..self.held.len() - 2]);
        if part == FormPart::Doubtful {
            return Ok(self.keep_held_and(SplitterState::Verbatim));
        }
        self.files += usize::from(part == FormPart::File);
        if self.files > self.limits.files {
            return Err(Exceeded::Files);
        }
        Ok(self.keep_held_and(SplitterState::Opening(part)))
    }

    /// Reads the first bytes of a part's content. If they are a delimiter without its CRLF, the
    /// part is ambiguous: its content is over for some parsers.
    fn opening<'a>(&mut self, part: FormPart, input: &mut &'a [u8]) -> SplitterStep<'a> {
        let delimiter = self.delimiter.bare();
        hold_while_equal(&mut self.held, delimiter, input);
        if self.held.len() == delimiter.len() {
            return self.keep_held_and(SplitterState::Verbatim);
        }
        if input.is_empty() {
            return SplitterStep::NeedsInput;
        }
        self.state = SplitterState::Content(part);
        if self.held.is_empty() {
            SplitterStep::Again
        } else {
            SplitterStep::HeldContent(part)
        }
    }

    /// Reads up to the next delimiter. Bytes that may begin one are held until that is certain.
    fn content<'a>(&mut self, part: FormPart, input: &mut &'a [u8]) -> SplitterStep<'a> {
        if self.held.is_empty() {
            let (content, rest) = input.split_at(self.delimiter.candidate(input));
            *input = rest;
            if !content.is_empty() {
                return SplitterStep::Content(part, content);
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
            SplitterStep::NeedsInput
        } else {
            SplitterStep::HeldContent(part)
        }
    }

    /// Ends a content, whose delimiter is held.
    fn delimited<'a>(&mut self, part: FormPart, is_last: bool) -> SplitterStep<'a> {
        self.state = if is_last {
            SplitterState::Closing
        } else {
            SplitterState::Between
        };
        if part == FormPart::File {
            SplitterStep::FileEnd
        } else {
            SplitterStep::Again
        }
    }

    /// Reads what follows the last delimiter: the end of the input, or CRLF and ignored bytes.
    fn closing<'a>(&mut self, input: &mut &'a [u8]) -> SplitterStep<'a> {
        let whole = self.delimiter.with(b"--\r\n");
        hold_while_equal(&mut self.held, &whole, input);
        if self.held.len() == whole.len() {
            self.keep_held_and(SplitterState::Over)
        } else if input.is_empty() {
            SplitterStep::NeedsInput
        } else {
            self.keep_held_and(SplitterState::Verbatim)
        }
    }

    fn keep_held_and<'a>(&mut self, next: SplitterState) -> SplitterStep<'a> {
        self.state = next;
        if self.held.is_empty() {
            SplitterStep::Again
        } else {
            SplitterStep::KeepHeld
        }
    }

    fn count(&mut self, part: FormPart, bytes: usize) -> Result<(), Exceeded> {
        if part != FormPart::File {
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

fn content(part: FormPart, bytes: &[u8]) -> FormEvent<'_> {
    if part == FormPart::File {
        FormEvent::File(bytes)
    } else {
        FormEvent::Keep(bytes)
    }
}

/// Moves bytes from `input` to `held` as long as `held` is a prefix of `wanted`.
fn hold_while_equal(held: &mut Vec<u8>, wanted: &[u8], input: &mut &[u8]) {
    let Some(missing) = wanted.strip_prefix(&held[..]) else {
        return;
    };
    let pairs = missing.iter().zip(*input);
    let count = pairs.take_while(|(wanted, byte)| wanted == byte).count();
    held.extend_from_slice(&input[..count]);
    *input = &input[count..];
}
