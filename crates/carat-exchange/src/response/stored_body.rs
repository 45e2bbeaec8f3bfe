use std::fmt::Debug;

use bytes::Bytes;
use carat_coding::Coding;

/// A whole body in memory that many clients get. They may request ranges of it.
pub trait StoredBody: Debug {
    /// All of it, as the application sent it.
    fn plain(&self) -> &Bytes;
    /// The body in a content coding, if that is kept.
    fn form(&self, coding: Coding) -> Option<Bytes>;
    /// Whether the caller is to make it, and to call `end_form`: false while another one does.
    fn begin_form(&self, coding: Coding) -> bool;
    /// The body in a content coding was made, or could not be.
    fn end_form(&self, coding: Coding, made: Option<&Bytes>);
}
