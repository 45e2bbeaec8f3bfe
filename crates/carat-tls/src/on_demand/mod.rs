//! Certificates on demand: a client asks for a name that has no certificate, and the application is asked whether the
//! name is its own. Nobody but the application can make the server order a certificate.

mod demand_limits;
mod demand_refusal;
mod demands;
mod question;

pub(crate) use demand_refusal::DemandRefusal;
pub(crate) use demands::{Demands, DueName};
