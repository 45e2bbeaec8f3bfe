use std::fmt;
use std::sync::Arc;

/// Why a name gets no certificate on demand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DemandRefusal {
    /// The application says that the name is not its own.
    NotOwn,
    /// The application did not say whether the name is its own, for a reason.
    Unanswered(Arc<str>),
    /// The application was asked about too many names in the last time.
    TooManyQuestions,
    /// Too many certificates were ordered in the last time.
    TooManyOrders,
    /// There are as many names as there may be.
    TooManyNames,
    /// The authority has not issued the certificate.
    NotIssued,
    /// The certificate was not there in time.
    Late,
}

impl fmt::Display for DemandRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DemandRefusal::NotOwn => "the application says that the name is not its own",
            DemandRefusal::Unanswered(reason) => return write!(f, "acme_ask: {reason}"),
            DemandRefusal::TooManyQuestions => "the application is asked about too many names",
            DemandRefusal::TooManyOrders => "too many certificates were ordered in the last hour",
            DemandRefusal::TooManyNames => "there are too many names",
            DemandRefusal::NotIssued => "the authority has not issued it",
            DemandRefusal::Late => "it was not there in time",
        })
    }
}
