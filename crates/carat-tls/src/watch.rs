use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::certificate_store::{CertificateStore, Renewal};
use carat_files::on_own_thread;
use carat_log::Log;

/// How often the files of certificates are looked at.
const LOOK: Duration = Duration::from_secs(10);

/// Takes up certificates that were renewed: every ten seconds, and when `now` says so. Never returns without an error.
pub async fn watch_certificates(
    stores: Vec<Arc<CertificateStore>>,
    now: Rc<Notify>,
    log: Rc<Log>,
) -> io::Result<()> {
    let mut watches = JoinSet::new();
    for store in stores {
        watches.spawn_local(watch(store, Rc::clone(&now), Rc::clone(&log)));
    }
    // None ends without an error.
    watches.join_next().await.transpose()?.unwrap_or(Ok(()))
}

/// Watches the files of one listener, of which a disk that does not respond holds one thread, however many listeners wait for
/// theirs.
async fn watch(store: Arc<CertificateStore>, now: Rc<Notify>, log: Rc<Log>) -> io::Result<()> {
    loop {
        // Whether it is time or somebody asks makes no difference.
        let _ = timeout(LOOK, now.notified()).await;
        let store = Arc::clone(&store);
        let mut renewal = pin!(on_own_thread(move || store.renew()));
        let in_time = timeout(LOOK, &mut renewal).await;
        let renewal = if let Ok(renewal) = in_time {
            renewal
        } else {
            let reason = "their disk does not respond";
            log.error("certificates not renewed", &[("reason", &reason)]);
            renewal.await
        };
        match renewal? {
            Renewal::Unchanged => {}
            Renewal::Renewed => log.info("certificates renewed", &[]),
            Renewal::Failed(reason) => {
                log.error("certificates not renewed", &[("reason", &reason)]);
            }
        }
    }
}
