use std::rc::Rc;
use std::sync::Arc;

use crate::exchange::SpoolQuota;
use crate::log::Log;
use crate::settings::Settings;

/// What the request bodies of all connections share.
#[derive(Debug)]
pub(crate) struct RequestBodies {
    pub(crate) settings: Rc<Settings>,
    pub(crate) log: Rc<Log>,
    pub(crate) quota: Arc<SpoolQuota>,
}

impl RequestBodies {
    pub(crate) fn new(
        settings: &Rc<Settings>,
        log: &Rc<Log>,
        quota: &Arc<SpoolQuota>,
    ) -> RequestBodies {
        RequestBodies {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            quota: Arc::clone(quota),
        }
    }
}
