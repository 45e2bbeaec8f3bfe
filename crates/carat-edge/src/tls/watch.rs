use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::certificate_store::{CertificateStore, Renewal};
use crate::log::Log;

/// How often the files of certificates are looked at.
const LOOK: Duration = Duration::from_secs(10);

/// Takes up certificates that were renewed: every ten seconds, and when `now` says so. Never returns without an error.
pub(crate) async fn watch_certificates(
    stores: Vec<Arc<CertificateStore>>,
    now: Rc<Notify>,
    log: Rc<Log>,
) -> io::Result<()> {
    if stores.is_empty() {
        return Ok(());
    }
    loop {
        // Whether it is time or somebody asks makes no difference.
        let _ = timeout(LOOK, now.notified()).await;
        for store in &stores {
            let store = Arc::clone(store);
            match spawn_blocking(move || store.renew()).await? {
                Renewal::Unchanged => {}
                Renewal::Renewed => log.info("certificates renewed", &[]),
                Renewal::Failed(reason) => {
                    log.error("certificates not renewed", &[("reason", &reason)]);
                }
            }
        }
    }
}
