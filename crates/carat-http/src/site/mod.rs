//! The responses that the edge makes without Ruby: files, pages, redirects, readiness.

mod disk_lookups;
mod error_pages;
mod force_tls;
mod maintenance;
mod page_file;
mod readiness;
mod send_files;
mod site_files;
mod static_files;
mod validations;

pub(crate) use force_tls::ForceTls;
pub(crate) use readiness::ReadinessChecks;
pub use site_files::SiteFiles;
