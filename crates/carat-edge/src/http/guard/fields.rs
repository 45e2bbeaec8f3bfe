//! A section of field lines up to its blank line: the headers of a head, or the trailers of a
//! chunked body.

use super::Refusal;
use super::byte_class::{ByteClass, text_end};

/// What the next byte belongs to.
#[derive(Clone, Copy)]
enum Place {
    LineStart,
    Name,
    Value,
    LineEnd,
    SectionEnd,
}

/// What was just read.
pub(super) enum Step {
    /// All there is; the section goes on.
    More,
    /// The colon after a name.
    Colon,
    /// The line end after a value.
    Line,
    /// The blank line that ends the section.
    End,
}

/// Checks each line's syntax (RFC 9112, section 5) and remembers nothing but where it stands, so
/// that bytes need not be kept.
pub(super) struct Fields {
    place: Place,
    count: usize,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self {
            place: Place::LineStart,
            count: 0,
        }
    }

    /// Reads from `at`, which is moved just behind what the answer names.
    pub(super) fn step(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        max_fields: usize,
    ) -> Result<Step, Refusal> {
        while let Some(&byte) = bytes.get(*at) {
            let step = match self.place {
                Place::LineStart => self.start_line(byte, max_fields)?,
                Place::Name => self.name(bytes, at)?,
                Place::Value => self.value(bytes, at)?,
                Place::LineEnd => self.line_feed(byte, Step::Line)?,
                Place::SectionEnd => self.line_feed(byte, Step::End)?,
            };
            // The byte that the place was left on.
            *at += usize::from(*at < bytes.len());
            if !matches!(step, Step::More) {
                return Ok(step);
            }
        }
        Ok(Step::More)
    }

    fn start_line(&mut self, byte: u8, max_fields: usize) -> Result<Step, Refusal> {
        self.place = match byte {
            b'\r' => Place::SectionEnd,
            b'\n' => return Err(Refusal::BareLineEnd),
            b' ' | b'\t' => return Err(Refusal::FoldedLine),
            _ if !ByteClass::TOKEN.has(byte) => return Err(Refusal::FieldName),
            _ if self.count == max_fields => return Err(Refusal::TooManyHeaders),
            _ => {
                self.count += 1;
                Place::Name
            }
        };
        Ok(Step::More)
    }

    fn name(&mut self, bytes: &[u8], at: &mut usize) -> Result<Step, Refusal> {
        *at = ByteClass::TOKEN.run_end(bytes, *at);
        match bytes.get(*at) {
            None => Ok(Step::More),
            Some(b':') => {
                self.place = Place::Value;
                Ok(Step::Colon)
            }
            Some(b'\n') => Err(Refusal::BareLineEnd),
            Some(_) => Err(Refusal::FieldName),
        }
    }

    fn value(&mut self, bytes: &[u8], at: &mut usize) -> Result<Step, Refusal> {
        *at = text_end(bytes, *at);
        match bytes.get(*at) {
            None => Ok(Step::More),
            Some(b'\r') => {
                self.place = Place::LineEnd;
                Ok(Step::More)
            }
            Some(b'\n') => Err(Refusal::BareLineEnd),
            Some(_) => Err(Refusal::FieldValue),
        }
    }

    fn line_feed(&mut self, byte: u8, step: Step) -> Result<Step, Refusal> {
        if byte != b'\n' {
            return Err(Refusal::BareLineEnd);
        }
        self.place = Place::LineStart;
        Ok(step)
    }
}
