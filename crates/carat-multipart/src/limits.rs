use std::fmt;

/// How much a form may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Parts.
    pub parts: usize,
    /// Files that are taken out.
    pub files: usize,
    /// Bytes in the header of one part.
    pub part_header: usize,
    /// Bytes in the contents of all fields together.
    pub field_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            parts: 4096,
            files: 128,
            part_header: 16 * 1024,
            field_bytes: 16 * 1024 * 1024,
        }
    }
}

/// The limit that a form does not keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// [`Limits::parts`]
    Parts,
    /// [`Limits::files`]
    Files,
    /// [`Limits::part_header`]
    PartHeader,
    /// [`Limits::field_bytes`]
    FieldBytes,
}

impl Exceeded {
    /// One sentence for the client.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Exceeded::Parts => "the form has too many parts",
            Exceeded::Files => "the form has too many files",
            Exceeded::PartHeader => "the header of a part of the form is too large",
            Exceeded::FieldBytes => "the fields of the form are too large",
        }
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for Exceeded {}
