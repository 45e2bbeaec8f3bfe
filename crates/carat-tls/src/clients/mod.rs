//! The certificates of clients: who may have signed them, and what the application learns of them.

mod client_authority;
mod client_certificate;
mod distinguished_name;

pub(crate) use client_authority::ClientAuthority;
pub(super) use client_certificate::client_variables;
