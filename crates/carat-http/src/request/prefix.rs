use crate::request::request_step::{ArrivedRequest, RequestStep};
use carat_exchange::Refusal;
use carat_settings::UrlPrefix;

/// Refuses a request for a path that does not lead to the application.
pub(crate) fn check_prefix(
    request: &mut ArrivedRequest,
    prefix: Option<&UrlPrefix>,
) -> RequestStep {
    let is_outside = prefix.is_some_and(|prefix| !prefix.contains(request.path()));
    request.refuse_if(is_outside, Refusal::OutsidePrefix)
}
