//! The fields that frames are made of.

mod cursor;
pub(crate) mod form_files;
mod header;
mod malformed;
mod scheme;

pub use cursor::TEXT_LIMIT;
pub(crate) use cursor::{Cursor, push_long, push_short, push_text};
pub use form_files::FormFiles;
pub use header::{
    EncodedHeaders, Headers, NAMES, Name, VARIABLE_MARK, code_of, extend_header, name_of,
    push_header, push_variable,
};
pub use malformed::Malformed;
pub use scheme::Scheme;
