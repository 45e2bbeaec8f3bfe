/// Limits on a form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FormLimits {
    /// Number of parts.
    pub parts: usize,
    /// Number of files that are taken out.
    pub files: usize,
    /// Bytes of the headers of one part.
    pub part_header: usize,
    /// Bytes of all fields together.
    pub field_bytes: usize,
}

impl Default for FormLimits {
    fn default() -> FormLimits {
        FormLimits {
            parts: 4096,
            files: 128,
            part_header: 16 * 1024,
            field_bytes: 16 * 1024 * 1024,
        }
    }
}

/// The limit that a form exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// [`FormLimits::parts`]
    Parts,
    /// [`FormLimits::files`]
    Files,
    /// [`FormLimits::part_header`]
    PartHeader,
    /// [`FormLimits::field_bytes`]
    FieldBytes,
}

impl Exceeded {
    /// The reason, as a sentence for the client.
    pub const fn reason(self) -> &'static str {
        match self {
            Exceeded::Parts => "the form has too many parts",
            Exceeded::Files => "the form has too many files",
            Exceeded::PartHeader => "the headers of a part of the form are too large",
            Exceeded::FieldBytes => "the fields of the form are too large",
        }
    }
}
