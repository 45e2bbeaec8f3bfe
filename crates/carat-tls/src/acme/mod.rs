//! Certificates from an authority that speaks ACME (RFC 8555). The program that asks for them runs when one is due, and leaves
//! what it gets, and what proves that the server is the one it asks for, in a folder that the server watches.

mod client;
mod folder;
mod messages;
mod names;
mod status;

pub(crate) use client::AcmeClient;
pub(super) use folder::{ACME_TLS, AcmeFolder, is_validation};
pub(super) use messages::ClientMessage;
pub(crate) use names::AcmeNames;
pub(crate) use status::CertificateStatus;
