//! The header fields of a response about a file, and whether the client has it already.

mod conditions;
mod content;
mod fingerprint;
mod media_type;
mod validators;

pub(crate) use conditions::{Conditions, Verdict};
pub use content::FileContent;
pub(crate) use fingerprint::is_fingerprinted;
pub(crate) use media_type::{is_compressible, media_type};
pub(crate) use validators::Validators;
