//! Requests as they arrive on their streams.

mod admission;
mod body;
mod checked_request;
mod expectation;

pub(super) use admission::{AdmittedStream, admit};
pub(super) use checked_request::{CheckedRequest, check_request, hide_own_accept};
