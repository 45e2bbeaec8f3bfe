//! A section of field lines up to its blank line: headers, or the trailers of a chunked body.

use crate::byte_class::{ByteClass, text_end};
use crate::error::GuardError;

/// The part of the field section to which the next byte belongs.
#[derive(Clone, Copy)]
enum FieldsState {
    LineStart,
    Name,
    Value,
    LineEnd,
    SectionEnd,
}

/// The result of reading a piece of the field section.
pub(crate) enum FieldsStep {
    /// All bytes at hand were read; the section continues.
    More,
    /// The colon after a name.
    Colon,
    /// The line end after a value.
    Line,
    /// The blank line that ends the section.
    End,
}

/// Checks the syntax of each line (RFC 9112, section 5). The state is kept between calls, and no
/// bytes are.
pub(crate) struct Fields {
    state: FieldsState,
    count: usize,
}

impl Fields {
    pub(crate) fn new() -> Self {
        Self {
            state: FieldsState::LineStart,
            count: 0,
        }
    }

    /// Reads from `at` up to the next step, and moves `at` just past it.
    pub(crate) fn step(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        max_fields: usize,
    ) -> Result<FieldsStep, GuardError> {
        while let Some(&byte) = bytes.get(*at) {
            let step = match self.state {
                FieldsState::LineStart => self.start_line(byte, max_fields)?,
                FieldsState::Name => self.name(bytes, at)?,
                FieldsState::Value => self.value(bytes, at)?,
                FieldsState::LineEnd => self.line_feed(byte, FieldsStep::Line)?,
                FieldsState::SectionEnd => self.line_feed(byte, FieldsStep::End)?,
            };
            // Skips the byte at which the state has stopped.
            *at += usize::from(*at < bytes.len());
            if !matches!(step, FieldsStep::More) {
                return Ok(step);
            }
        }
        Ok(FieldsStep::More)
    }

    fn start_line(&mut self, byte: u8, max_fields: usize) -> Result<FieldsStep, GuardError> {
        self.state = match byte {
            b'\r' => FieldsState::SectionEnd,
            b'\n' => return Err(GuardError::BareLineEnd),
            b' ' | b'\t' => return Err(GuardError::FoldedLine),
            _ if !ByteClass::TOKEN.has(byte) => return Err(GuardError::FieldName),
            _ if self.count == max_fields => return Err(GuardError::TooManyHeaders),
            _ => {
                self.count += 1;
                FieldsState::Name
            }
        };
        Ok(FieldsStep::More)
    }

    fn name(&mut self, bytes: &[u8], at: &mut usize) -> Result<FieldsStep, GuardError> {
        *at = ByteClass::TOKEN.run_end(bytes, *at);
        match bytes.get(*at) {
            None => Ok(FieldsStep::More),
            Some(b':') => {
                self.state = FieldsState::Value;
                Ok(FieldsStep::Colon)
            }
            Some(b'\n') => Err(GuardError::BareLineEnd),
            Some(_) => Err(GuardError::FieldName),
        }
    }

    fn value(&mut self, bytes: &[u8], at: &mut usize) -> Result<FieldsStep, GuardError> {
        *at = text_end(bytes, *at);
        match bytes.get(*at) {
            None => Ok(FieldsStep::More),
            Some(b'\r') => {
                self.state = FieldsState::LineEnd;
                Ok(FieldsStep::More)
            }
            Some(b'\n') => Err(GuardError::BareLineEnd),
            Some(_) => Err(GuardError::FieldValue),
        }
    }

    fn line_feed(&mut self, byte: u8, step: FieldsStep) -> Result<FieldsStep, GuardError> {
        if byte != b'\n' {
            return Err(GuardError::BareLineEnd);
        }
        self.state = FieldsState::LineStart;
        Ok(step)
    }
}
