use std::rc::Rc;
use std::sync::Arc;

use carat_exchange::SpoolQuota;
use carat_log::Log;
use carat_settings::Settings;

/// The options and limits that the request bodies of all connections share.
pub struct RequestBodies {
    /// The options that bound bodies.
    pub settings: Rc<Settings>,
    /// Where failed spools are logged.
    pub log: Rc<Log>,
    /// The disk space and the files that all spools together may use.
    pub quota: Arc<SpoolQuota>,
}

impl RequestBodies {
    /// Bodies under these options, which share this quota.
    pub fn new(settings: &Rc<Settings>, log: &Rc<Log>, quota: &Arc<SpoolQuota>) -> RequestBodies {
        RequestBodies {
            settings: Rc::clone(settings),
            log: Rc::clone(log),
            quota: Arc::clone(quota),
        }
    }
}
