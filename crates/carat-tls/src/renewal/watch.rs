use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::certificate_store::CertificateStore;
use carat_files::on_own_thread;
use carat_log::Log;

/// How often the files of certificates are looked at.
const LOOK: Duration = Duration::from_secs(10);
/// How often the files are looked at while a name has no certificate yet: another server with the
/// same folder may be asking for it.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The most threads that wait for the disks of one listener's files. When there are as many, no further look begins.
const LOOKS_LIMIT: usize = 8;

/// Looks for renewed certificates: every ten seconds, and when `now` is notified. Never returns
/// without an error.
pub(crate) async fn watch_certificates(
    stores: Vec<Arc<CertificateStore>>,
    now: Rc<Notify>,
    log: Rc<Log>,
) -> io::Result<()> {
    let mut watches = JoinSet::new();
    for store in stores {
        watches.spawn_local(watch(store, Rc::clone(&now), Rc::clone(&log)));
    }
    // No watch ends without an error.
    watches.join_next().await.transpose()?.unwrap_or(Ok(()))
}

/// Watches the files of one listener. A look at files on a disk that does not respond keeps waiting for it, and later
/// looks leave these files out.
async fn watch(store: Arc<CertificateStore>, now: Rc<Notify>, log: Rc<Log>) -> io::Result<()> {
    let mut looks = JoinSet::new();
    loop {
        // Either the time or a notice ends the wait: which one does not matter.
        let wait = if store.awaits_first() {
            FIRST_LOOK
        } else {
            LOOK
        };
        let _ = timeout(wait, now.notified()).await;
        while let Some(look) = looks.try_join_next() {
            look??;
        }
        if looks.len() < LOOKS_LIMIT {
            looks.spawn_local(look(Arc::clone(&store), Rc::clone(&log)));
        }
    }
}

/// Looks at the files of one listener.
async fn look(store: Arc<CertificateStore>, log: Rc<Log>) -> io::Result<()> {
    let failed = |reason: &str| log.error("certificates not renewed", &[("reason", &reason)]);
    let reader = Arc::clone(&store);
    let mut renewal = pin!(on_own_thread(move || reader.renew()));
    let in_time = timeout(LOOK, &mut renewal).await;
    let renewal = if let Ok(renewal) = in_time {
        renewal?
    } else {
        failed(&format!(
            "the disk does not respond: {}",
            store.path().display()
        ));
        renewal.await?
    };
    renewal.failures.iter().for_each(|reason| failed(reason));
    if renewal.is_renewed {
        log.info("certificates renewed", &[]);
    }
    Ok(())
}
