//! Certificates from an authority that speaks ACME (RFC 8555). A program runs when a certificate is
//! due, and asks for it. It writes the certificates, and the proofs that this server is the named
//! host, to a folder that the server watches.

mod client;
mod folder;
mod further_names;
mod host_name;
mod messages;
mod names;
mod status;

pub(crate) use client::AcmeClient;
pub(super) use folder::{ACME_TLS, AcmeFolder, is_validation};
pub(crate) use further_names::FurtherNames;
pub(crate) use host_name::is_host_name;
pub(super) use messages::ClientMessage;
pub(crate) use names::{AcmeHome, AcmeNames};
pub(crate) use status::CertificateStatus;
