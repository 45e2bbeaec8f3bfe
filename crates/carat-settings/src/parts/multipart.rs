use serde::Deserialize;

/// The forms whose files the edge extracts.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct MultipartSettings {
    /// Who extracts the files of a form.
    pub parser: Multipart,
    /// The parts of a form, at most.
    pub max_parts: usize,
    /// The files of a form, at most.
    pub max_files: usize,
    /// The bytes of the header fields of a part, at most.
    pub max_part_header: usize,
    /// The bytes of all parts that are no files, at most.
    pub max_field_bytes: usize,
}

/// Who takes the files out of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Multipart {
    /// The application.
    App,
    /// The edge, while they arrive.
    Edge,
}
